/* SPDX-License-Identifier: MIT */
/*
 * dependencies_sights: the mounts of the files of one check, with boot and credentials
 *
 * Calling sequence: a zeroed struct, sights_mount() per file, sights_write() or sights_renew() at the end. Each mount
 * is identified once per check. Errors: the ninth and later mounts count as unknown.
 */
#ifndef KEYGEN_DEPENDENCIES_SIGHTS_H
#define KEYGEN_DEPENDENCIES_SIGHTS_H

#include "keygen/dependencies_format.h"

struct sight {
	struct mount mount;
	uint64_t number; /* the mount number from stamp_look(): one file system may have two mounts */
	bool recorded;   /* the dependencies being checked contain it */
	bool changed;    /* a file in it has another stamp than recorded */
};

struct sights {
	struct sight sight[MOUNTS_MAX];
	uint32_t count;
	const struct fixed_stamps *recorded; /* NULL: none */
};

struct sight *sights_see(struct sights *sights, const char *path, uint64_t device, uint64_t number);
const struct mount *sights_mount(struct sights *sights, const char *path, uint64_t device, uint64_t number);

/* Writes the head of the stamps for files that were all checked now, by this thread, in these mounts. */
void sights_write(const struct sights *sights, struct fixed_stamps *ret_stamps);
/*
 * Writes the head of the stamps if some recorded stamps of `old` were accepted: mounts of the same boot in which no
 * stamp differed are kept, after the new ones.
 */
void sights_renew(const struct sights *sights, const struct fixed_stamps *old, struct fixed_stamps *ret_stamps);

#endif

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
	bool changed;    /* a file in it has a stamp that differs from the recorded one */
};

struct sights {
	struct sight sight[MOUNTS_MAX];
	uint32_t count;
	const struct fixed_stamps *recorded; /* NULL: none */
};

/*
 * Returns the mount of `path`, with the device and mount number that stamp_look() returned for it. After MOUNTS_MAX
 * mounts, sights_see() returns NULL for others and sights_mount() a mount of kind MOUNT_UNKNOWN.
 */
struct sight *sights_see(struct sights *sights, const char *path, uint64_t device, uint64_t number);
const struct mount *sights_mount(struct sights *sights, const char *path, uint64_t device, uint64_t number);

/* Writes the head of the stamps for files that were all checked now, by this thread, in these mounts. */
void sights_write(const struct sights *sights, struct fixed_stamps *ret_stamps);
/*
 * As sights_write(), for dependencies some of whose recorded stamps (`old`) were accepted: after the new mounts, it
 * copies those mounts of `old` from the same boot in which no stamp differed.
 */
void sights_renew(const struct sights *sights, const struct fixed_stamps *old, struct fixed_stamps *ret_stamps);

#endif

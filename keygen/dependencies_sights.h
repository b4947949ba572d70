/* SPDX-License-Identifier: MIT */
/*
 * dependencies_sights: the mounts that one look at many files meets, by whom and on which boot
 *
 * Calling sequence: a zeroed struct, sights_mount() per file, sights_write() or sights_renew() at the end.
 * Each mount is asked for its identity once in a look. Errors: a ninth mount is unknown.
 */
#ifndef KEYGEN_DEPENDENCIES_SIGHTS_H
#define KEYGEN_DEPENDENCIES_SIGHTS_H

#include "keygen/dependencies_format.h"

struct sight {
	struct mount mount;
	uint64_t number; /* of the mount, as stamp_look() gave it: two may be of one file system */
	bool recorded;   /* in the dependencies that are checked */
	bool changed;    /* a stamp in it is another than recorded */
};

struct sights {
	struct sight sight[MOUNTS_MAX];
	uint32_t count;
	const struct fixed_stamps *recorded; /* NULL: nothing is */
};

struct sight *sights_see(struct sights *sights, const char *path, uint64_t device, uint64_t number);
const struct mount *sights_mount(struct sights *sights, const char *path, uint64_t device, uint64_t number);

/* The stamps' head for files that were all seen in these mounts, now and by this thread. */
void sights_write(const struct sights *sights, struct fixed_stamps *ret_stamps);
/*
 * The same where a part was believed as it stands in `old`: mounts of the same boot in which no stamp was found to be
 * another go on being known, newest first.
 */
void sights_renew(const struct sights *sights, const struct fixed_stamps *old, struct fixed_stamps *ret_stamps);

#endif

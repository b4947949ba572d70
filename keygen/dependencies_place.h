/* SPDX-License-Identifier: MIT */
/*
 * dependencies_place: looks up many paths relative to opened directories
 *
 *     one group: UNOPENED --hint, open--> OPEN     names are looked up in the directory
 *                    |             \----> MISSING  the directory does not exist: no name is looked up
 *                    |                      ^
 *                    |\ the directory is in one that was found missing for an earlier group of the base
 *                    \ no hint, or another error (EMFILE, EACCES): paths from the base, or whole paths, are looked up
 *
 * Purpose: resolving a whole path costs the kernel more than the stat itself. So the directory of the base and that of
 * the group are opened (O_PATH), one of each at a time. The result is the same as with the whole path.
 *
 * Calling sequence: place_init(); per group place_enter(), place_open_directory() unless its names need no look-up, and
 * per name place_name() and the functions below it; place_close(). Errors: -ENAMETOOLONG if a path would be longer than
 * PATH_MAX. After any other error the whole path is looked up.
 */
#ifndef KEYGEN_DEPENDENCIES_PLACE_H
#define KEYGEN_DEPENDENCIES_PLACE_H

#include "keygen/digest.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

enum place_state { PLACE_UNOPENED, PLACE_OPEN, PLACE_MISSING };

struct place {
	uint32_t base;
	bool base_set;
	int base_descriptor; /* of the base's directory, or -1 */
	enum place_state state;
	int directory;       /* of the group, or -1 */
	const char *missing; /* a directory of this base that does not exist; points into the dependencies */
	size_t missing_size; /* 0: none is known yet */
	const char *present; /* likewise a directory that exists */
	size_t present_size;
	uint8_t *buffer;       /* NULL until content is read */
	size_t base_size;      /* `path` is base, directory and name */
	size_t directory_size; /* base and directory */
	char path[PATH_MAX];
};

/* A group: the base's number and text, and the directory after it ("", or ending in '/'). No text contains a NUL. */
struct place_group {
	uint32_t base;
	uint32_t hints;
	const char *base_text;
	size_t base_size;
	const char *directory;
	size_t directory_size;
};

void place_init(struct place *place);
void place_close(struct place *place);

int place_enter(struct place *place, const struct place_group *group);
void place_open_directory(struct place *place, const struct place_group *group);
void place_leave(struct place *place);
/* Selects this name of the group for the functions below; `path` is then its whole path. */
int place_name(struct place *place, const char *name, size_t size);

/* stamp_look() of the selected path. Returns 0 or an errno. */
int place_stat(const struct place *place, struct stat *ret_stat, uint64_t *ret_mount);
/* Returns 0 if the path can be opened for reading, which only an open shows; otherwise -errno. */
int place_open(const struct place *place);
/*
 * Computes the digest of the content. Errors: -EACCES and others if it cannot be opened, -EBUSY if it is no longer the
 * file of `stat` or changes while it is read, -EIO, -ENOMEM.
 */
int place_digest(struct place *place, const struct stat *stat, struct key *ret_digest);

#endif

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
 * Calling sequence: place_init(); per group place_enter(), and per name place_name() and the functions below it;
 * place_close(). Errors: -ENAMETOOLONG if a path would be longer than PATH_MAX. After any other error the whole path is
 * looked up.
 */
#ifndef KEYGEN_DEPENDENCIES_PLACE_H
#define KEYGEN_DEPENDENCIES_PLACE_H

#include "keygen/digest.h"
#include "keygen/stamp.h"

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

enum place_state { PLACE_UNOPENED, PLACE_OPEN, PLACE_MISSING };

struct place {
	uint32_t base;
	int base_descriptor; /* of the base's directory, or -1 */
	enum place_state state;
	int directory;         /* of the group, or -1 */
	const char *missing;   /* a directory of this base that does not exist; points into the dependencies */
	size_t missing_size;   /* 0: none is known yet */
	int missing_error;     /* ENOENT, or ENOTDIR: a file is in its place */
	size_t base_size;      /* `path` is base, directory and name */
	size_t directory_size; /* base and directory */
	char path[PATH_MAX];
};

/* A group: the base's number and text, and the directory after it ("", or ending in '/'). No text contains a NUL. */
struct place_group {
	uint32_t base;
	uint32_t hints; /* 0: no name is looked up, so nothing is opened */
	uint32_t items;
	const char *base_text;
	size_t base_size;
	const char *directory;
	size_t directory_size;
};

void place_init(struct place *place);
void place_close(struct place *place);

int place_enter(struct place *place, const struct place_group *group);
/* Selects this name of the group for the functions below; `path` is then its whole path. */
int place_name(struct place *place, const char *name, size_t size);

/* stamp_look() of the selected path. Returns 0 or an errno. */
int place_look(const struct place *place, struct file_stamp *ret_stamp, uint64_t *ret_mount);
/* Returns 0 if the path can be opened for reading, which only an open shows; otherwise -errno. */
int place_open(const struct place *place);
/*
 * Computes the digest of the content. Errors: -EACCES and others if it cannot be opened, -EBUSY if it is no longer the
 * expected file or changes while it is read, -EIO, -ENOMEM.
 */
int place_digest(const struct place *place, const struct file_stamp *expected, struct key *ret_digest);

#endif

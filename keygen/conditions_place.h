/* SPDX-License-Identifier: MIT */
/*
 * conditions_place: looking up many paths by the shortest way
 *
 *     one group: UNOPENED --hint, open--> OPEN     names are looked up in the directory
 *                    |             \----> MISSING  nothing in it is there: no name is looked up
 *                    \ no hint, or a doubt (EMFILE, EACCES, ...): paths from the base, or whole ones, are looked up
 *
 * Purpose: a kernel's walk over a whole path costs more than the stat at its end.  So the directory of the base and
 * that of the group are opened (O_PATH), one of each at a time.  What is found is what the whole path would have found.
 *
 * Calling sequence: place_init(), then per group place_enter() and per name place_name() and the questions;
 * place_close(). Errors: -ENAMETOOLONG where a path would be longer than PATH_MAX; otherwise whole paths are the answer
 * to every error.
 */
#ifndef KEYGEN_CONDITIONS_PLACE_H
#define KEYGEN_CONDITIONS_PLACE_H

#include "keygen/digest.h"

#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>

enum place_state { PLACE_UNOPENED, PLACE_OPEN, PLACE_MISSING };

struct place {
	uint32_t base;
	bool base_set;
	int base_descriptor; /* of the base's directory, or -1 */
	enum place_state state;
	int directory;         /* of the group, or -1 */
	uint8_t *buffer;       /* when content had to be read */
	size_t base_size;      /* path: base, directory, name */
	size_t directory_size; /* base and directory */
	char path[PATH_MAX];
};

/* A group: the base's number and text, and the directory behind it ("", or with its last slash). No text holds a NUL.
 */
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
void place_leave(struct place *place);
/* From here on the questions are about this name of the group; `path` is its whole path. */
int place_name(struct place *place, const char *name, size_t size);

/* stamp_look() at it. */
int place_stat(const struct place *place, struct stat *ret_stat, uint64_t *ret_mount);
/* 0 where it can be opened for reading, which nothing but an open tells; else a negative errno. */
int place_open(const struct place *place);
/*
 * The digest of the content: -EACCES and the like where it cannot be opened, -EBUSY where it is no longer the file of
 * `stat` or changes while it is read, -EIO, -ENOMEM.
 */
int place_digest(struct place *place, const struct stat *stat, struct key *ret_digest);

#endif

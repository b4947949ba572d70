/* SPDX-License-Identifier: MIT */
/*
 * dependencies_walk: one pass over dependencies, for look-up, `show`, `explain` and `verify`
 *
 *   head -> libraries, machine -> each root -> each group: its directory -> each item: the present state of that path
 *
 * The walk is the only reader of the bytes (keygen/dependencies_format.h). It trusts nothing: it checks that texts
 * contain no NUL and are no longer than a path, and that numbers are in range. It reports each dependency with its
 * present state; dependencies_hold() ends it at the first one that changed, dependencies_tell() reads all.
 *
 * dependencies_look.c looks at the paths of each group:
 *
 *     present at all? the same kind of file? the same other paths? the same content: known (keygen/facts.h) at this
 *     stamp? --yes--> UNCHANGED, except one file per directory, which is opened first, if this process never opened it
 *        | no
 *        v
 *     read it; learn, if settled; digest equal? UNCHANGED, else CHANGED
 *
 * A hit needs one stat per file, but not an open and a read per file: a fact replaces reading the content and opening
 * the file, except for one file per directory; a confined thread, and one with other credentials than the facts have,
 * opens every file.
 *
 * Calling sequence: walk_dependencies(). Errors: -EBADMSG: damaged; -EPROTONOSUPPORT: another version; -ENAMETOOLONG;
 * -ENOMEM; -E2BIG: beyond the budget; -EXDEV: paths may not be looked up; or what `report` returned. Ownership: what
 * `report` receives is valid until it returns.
 */
#ifndef KEYGEN_DEPENDENCIES_WALK_H
#define KEYGEN_DEPENDENCIES_WALK_H

#include "keygen/dependencies.h"
#include "keygen/dependencies_place.h"
#include "keygen/facts.h"

#include <string.h>

struct walk_order {
	struct dependencies_budget *budget;
	const struct roots *roots; /* of the present request; may be fewer than those of the dependencies */
	bool (*agree)(void);       /* may paths be looked up (dependencies_ask_paths())? NULL: they may */
	bool look;                 /* query the file system and the machine */
	bool here;                 /* the working directory is that of the request */
	bool every;                /* report unchanged dependencies too, but no root */
	/* Returns 0 to continue, or a negative errno value to end the walk. */
	int (*report)(const struct dependency *dependency, void *context);
	void *context;
};

/* `ret_told` is written only on success. */
int walk_dependencies(const struct walk_order *order, const void *dependencies, size_t size,
                      struct dependencies_told *ret_told);

/* ---- for dependencies_walk.c and dependencies_look.c */

/* The file that the paths of a class name now. */
struct seen {
	uint64_t device;
	uint64_t inode;
	bool set;
};

struct walk {
	const struct walk_order *order;
	struct cursor cursor;
	uint32_t flags, groups, classes;
	uint32_t items;      /* not yet read as part of a group */
	struct root *root;   /* the text of each root; text NULL: not known */
	struct seen *seen;   /* by class */
	uint32_t *taken;     /* open-addressed set of the files in `seen`, by class + 1 */
	uint32_t taken_mask; /* the size of the set, a power of two, less 1 */
	struct dependencies_told told;
	struct facts facts;
	struct place place;
	bool sampled; /* a file of the present group's directory was opened */
};

/* Reads a text. Returns NULL if it contains a NUL or is longer than a path may be. */
static inline const char *read_text(struct walk *walk, size_t size)
{
	const char *text = size < PATH_MAX ? cursor_bytes(&walk->cursor, size) : NULL;

	return text && !memchr(text, '\0', size) ? text : NULL;
}

static inline bool read_fixed(struct walk *walk, void *ret_struct, size_t size)
{
	const void *bytes = cursor_bytes(&walk->cursor, size);

	if (bytes) {
		memcpy(ret_struct, bytes, size);
	}
	return bytes != NULL;
}

/* Reports each item that changed. `asked`: the base of the paths is known. */
int look_at_items(struct walk *walk, const struct place_group *group, bool asked);

#endif

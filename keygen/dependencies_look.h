/* SPDX-License-Identifier: MIT */
/*
 * dependencies_look: looks at the paths of one group, for the walk (keygen/dependencies_walk.h)
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
 * Errors: -EBADMSG and -ENAMETOOLONG, as for the walk, or what its `report` returned.
 */
#ifndef KEYGEN_DEPENDENCIES_LOOK_H
#define KEYGEN_DEPENDENCIES_LOOK_H

#include "keygen/dependencies_place.h"
#include "keygen/dependencies_walk.h"
#include "keygen/facts.h"

#include <string.h>

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

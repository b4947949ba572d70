/* SPDX-License-Identifier: MIT */
/*
 * dependencies_walk: one pass over dependencies, for lookup, `show`, `explain` and `verify`
 *
 *   head -> begin -> each root -> each group: its directory -> each item: what has become of that path
 *
 * The walk reads the bytes and asks the file system; a visitor decides what follows. dependencies_hold() stops at the
 * first path that is not as it was, dependencies_tell() reports every path.
 *
 * Calling sequence: `visitor` to `here` set (the rest is walk_dependencies()'s), walk_dependencies(), walk_is_complete() and walk_is_distinct(), walk_end().
 * Errors: -EBADMSG: damaged; -EPROTONOSUPPORT: of another version; -ENAMETOOLONG; -ENOMEM; or what a visitor returned.
 */
#ifndef KEYGEN_DEPENDENCIES_WALK_H
#define KEYGEN_DEPENDENCIES_WALK_H

#include "keygen/dependencies_read.h"
#include "keygen/dependencies_tell.h"

/* The file that a class of paths names now. */
struct seen {
	uint64_t device;
	uint64_t inode;
	bool set;
};

struct walk {
	struct reader reader;
	const struct visitor *visitor;
	void *context;           /* the visitor's */
	bool every;              /* `item` is called for unchanged paths too */
	const struct root *root; /* where each root lies; text NULL: not known */
	bool look;               /* at the file system at all */
	bool here;               /* the working directory is that of the request */
	struct seen *seen;       /* by class */
	bool exact;              /* sizes and times of files are in the result */
	bool unchanged;          /* the group's directory has the entries that it had */
	bool moved;              /* a path is another file than it was: identity must be compared */
	struct content content;
	struct place place;
};

/* Each returns 0 to go on, or a negative errno value, which ends the walk. */
struct visitor {
	int (*begin)(struct walk *walk); /* the head has been read: mathematics library, machine */
	int (*root)(struct walk *walk, uint32_t number, const char *text, size_t size);
	int (*item)(struct walk *walk, const struct place_group *group, const struct checked_item *item,
	            enum dependency_state state);
};

/* walk_end() follows, whatever this returns. */
int walk_dependencies(struct walk *walk, const void *dependencies, size_t size, enum content_want want);
void walk_end(struct walk *walk);

/* Was every class named by a path? */
bool walk_is_complete(const struct walk *walk);
/* Paths of different classes were different files: are they still? */
bool walk_is_distinct(struct walk *walk);

#endif

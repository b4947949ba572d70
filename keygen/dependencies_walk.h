/* SPDX-License-Identifier: MIT */
/*
 * dependencies_walk: one pass over dependencies, for look-up, `show`, `explain` and `verify`
 *
 *   head -> begin -> each root -> each group: its directory -> each item: the present state of that path
 *
 * The walk reads the bytes and queries the file system; a visitor decides what to do. The visitor of
 * dependencies_hold() stops at the first path that changed, that of dependencies_tell() reports every path.
 *
 * Calling sequence: set `budget` to `here` (walk_dependencies() sets the rest); walk_dependencies();
 * walk_is_complete() and `joined`; walk_end(). Errors: -EBADMSG: damaged; -EPROTONOSUPPORT: another version;
 * -ENAMETOOLONG; -ENOMEM; -E2BIG: beyond the budget; or what a visitor returned.
 */
#ifndef KEYGEN_DEPENDENCIES_WALK_H
#define KEYGEN_DEPENDENCIES_WALK_H

#include "keygen/dependencies.h"
#include "keygen/dependencies_content.h"
#include "keygen/dependencies_place.h"
#include "keygen/dependencies_read.h"
#include "keygen/dependencies_tell.h"

/* The file that the paths of a class name now. */
struct seen {
	uint64_t device;
	uint64_t inode;
	bool set;
};

struct walk {
	struct reader reader;
	struct dependencies_budget *budget;
	const struct visitor *visitor;
	void *context;           /* the visitor's */
	bool every;              /* `item` is called for unchanged paths too */
	const struct root *root; /* the text of each root; text NULL: not known */
	bool look;               /* query the file system */
	bool here;               /* the working directory is that of the request */
	struct seen *seen;       /* by class */
	uint32_t *taken;         /* open-addressed set of the files in `seen`, by class + 1 */
	uint32_t taken_mask;     /* the size of the set, a power of two, less 1 */
	bool exact;              /* sizes and times of files are in the result */
	bool joined;             /* paths of different classes, which named different files, name one file */
	struct content content;
	struct place place;
};

/* Each function returns 0 to continue, or a negative errno value to end the walk. */
struct visitor {
	int (*begin)(struct walk *walk); /* after the head, with mathematics library and machine */
	int (*root)(struct walk *walk, uint32_t number, const char *text, size_t size);
	int (*item)(struct walk *walk, const struct place_group *group, const struct checked_item *item,
	            enum dependency_state state);
};

/* The caller must call walk_end() afterwards, whatever this returns. */
int walk_dependencies(struct walk *walk, const void *dependencies, size_t size);
void walk_end(struct walk *walk);

/* Returns true if each class has at least one path; otherwise the bytes are damaged. */
bool walk_is_complete(const struct walk *walk);

#endif

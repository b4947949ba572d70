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
 * Calling sequence: walk_dependencies(). Errors: -EBADMSG: damaged; -EPROTONOSUPPORT: another version; -ENAMETOOLONG;
 * -ENOMEM; -E2BIG: beyond the budget; -EXDEV: paths may not be looked up; or what `report` returned. Ownership: what
 * `report` receives is valid until it returns.
 */
#ifndef KEYGEN_DEPENDENCIES_WALK_H
#define KEYGEN_DEPENDENCIES_WALK_H

#include "keygen/dependencies.h"

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

struct dependencies_told {
	uint32_t roots;
	bool exact;  /* sizes and times of files are in the result */
	bool joined; /* two paths that were different files are now one file */
};

/* `ret_told` is written only on success. */
int walk_dependencies(const struct walk_order *order, const void *dependencies, size_t size,
                      struct dependencies_told *ret_told);

#endif

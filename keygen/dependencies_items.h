/* SPDX-License-Identifier: MIT */
/*
 * dependencies_items: a trace as a sorted list of distinct paths, from which the bytes of dependencies are written
 *
 * Purpose: assigns each path its base (a root, the working directory, or none), merges the events of one path, and
 * numbers the distinct files (docs/DESIGN.md B2, B6).
 *
 * Errors: -ENOMEM; -EINVAL for a trace in which one path named two files, or in which a path is in two roots.
 * Ownership: items_free() frees the list; the items point into the trace, which must outlive them.
 */
#ifndef KEYGEN_DEPENDENCIES_ITEMS_H
#define KEYGEN_DEPENDENCIES_ITEMS_H

#include "keygen/dependencies.h"

/* One path, its base, and what was found there. */
struct item {
	uint32_t base;
	const char *directory; /* with its last slash */
	size_t directory_size;
	const char *name;
	const char *path; /* the whole, as the compiler spelled it */
	uint32_t kind;
	uint32_t class;
	int error;
	struct file_stamp stamp;
	const struct key *digest;
};

/* Sorted by base, directory and name. */
struct items {
	struct item *item;
	size_t count;
	uint32_t classes; /* distinct files */
};

/* Compares two items by base and directory (as the compiler spelled it); 0: the same directory. */
int items_by_directory(const struct item *one, const struct item *other);

/* Collects the items of the trace in `input`. */
int items_collect(const struct dependencies_input *input, struct items *ret_items);
void items_free(struct items *items);

#endif

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

#include "keygen/dependencies_build.h"

/* One path, its base, and what was found there. */
struct item {
	const struct trace_event *event;
	uint32_t base;
	uint32_t class;
	const char *directory; /* with its last slash */
	size_t directory_size;
	const char *name;
};

/* Sorted by base, directory and name. */
struct items {
	struct item *item;
	size_t count;
	uint32_t classes; /* distinct files */
};

/* Returns ITEM_ABSENT, ITEM_IDENTITY or ITEM_CONTENT. */
uint32_t item_kind(const struct item *item);
/* Returns the error to store for a lasting absence; 0 for 0 and for errors that may be temporary (EMFILE, EIO, ...). */
int item_absence(int error);

/* Compares two items by base and directory (as the compiler spelled it); 0: the same directory. */
int items_by_directory(const struct item *one, const struct item *other);

/* Collects the items of the trace in `input`. */
int items_collect(const struct dependencies_input *input, struct items *ret_items);
void items_free(struct items *items);

#endif

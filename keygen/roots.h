/* SPDX-License-Identifier: MIT */
/*
 * roots: the directories of a request, by number
 *
 * Calling sequence: directories_number() makes them; dependencies and texts are read against them; roots_free().
 * Ownership: texts are copies.
 */
#ifndef KEYGEN_ROOTS_H
#define KEYGEN_ROOTS_H

#include "keygen/digest.h"

/* A numbered root: the spelled text of an absolute directory, without a trailing slash ("" is the root directory). */
struct root {
	char *text;
	size_t size;
};

/* What of the present request dependencies are relative to. */
struct roots {
	struct root *root;
	size_t count;
	/* The functions that constants are folded with, asked for where a result hangs on them; NULL: unknown. The
	 * caller sets it. */
	const struct key *(*arithmetic)(void *context);
	void *context;
};

/* Where a text that spells a path in them leads. */
struct places {
	const struct roots *roots;
	const char *cwd; /* may be NULL */
};

/* NULL where they are unknown, or nobody was named to ask. */
const struct key *roots_arithmetic(const struct roots *roots);

void roots_free(struct roots *roots);

#endif

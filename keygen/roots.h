/* SPDX-License-Identifier: MIT */
/*
 * roots: the numbered directories of a request
 *
 * Calling sequence: directories_number() makes the roots; paths in dependencies and texts are relative to them;
 * roots_free(). Ownership: the roots' texts are copies.
 */
#ifndef KEYGEN_ROOTS_H
#define KEYGEN_ROOTS_H

#include "keygen/digest.h"

/* A numbered root: the spelled text of an absolute directory, without a trailing slash ("" is the root directory). */
struct root {
	char *text;
	size_t size;
};

/* The roots of the present request. */
struct roots {
	struct root *root;
	size_t count;
	/*
	 * Returns the digest of the functions with which constants are folded, or NULL if it is unknown. Set by the
	 * caller; called only for results that depend on them.
	 */
	const struct key *(*arithmetic)(void *context);
	void *context;
};

/* Texts are searched for paths inside these directories. */
struct places {
	const struct roots *roots;
	const char *cwd; /* may be NULL */
};

/* Returns NULL if the functions are unknown or the callback is not set. */
const struct key *roots_arithmetic(const struct roots *roots);

void roots_free(struct roots *roots);

#endif

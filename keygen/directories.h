/* SPDX-License-Identifier: MIT */
/*
 * directories: the directories that a request names, and their roots (docs/DESIGN.md B6)
 *
 * Roots are the outermost directories, numbered by their first use: /v/include and /v/include/cccl have one root, and
 * the second directory is "root 0" with the rest "/cccl". So no root is inside another, and a path is in at most one.
 *
 * Calling sequence: directories_add() for each directory in the request's order, directories_number(),
 * directories_put() where the request names a directory; then move the roots out of the struct, or roots_free().
 * The caller adds a directory only if its paths have a single spelling (directories_plain(), and no byte of it has
 * another spelling in a text); otherwise the request must be path-dependent. Errors: directories_add() returns false
 * after DIRECTORIES_MAX directories; directories_number() returns -ENOMEM. Ownership: the texts passed in must outlive
 * the directories; the roots are copies.
 */
#ifndef KEYGEN_DIRECTORIES_H
#define KEYGEN_DIRECTORIES_H

#include "keygen/digest.h"
#include "keygen/stream.h"

#include <stdbool.h>

/*
 * roots: the numbered directories of a request
 *
 * Calling sequence: directories_number() makes the roots; paths in dependencies and texts are relative to them;
 * roots_free(). Ownership: the roots' texts are copies.
 */

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
	 * Return the digest of the functions with which constants are folded, and of the library that the compiler
	 * loads by itself, or NULL if it is unknown. Set by the caller; called only for results that depend on them.
	 */
	const struct key *(*arithmetic)(void *context);
	const struct key *(*companion)(void *context);
	void *context;
};

/* Texts are searched for paths inside these directories. */
struct places {
	const struct roots *roots;
	const char *cwd; /* may be NULL */
};

/* Return NULL if the functions or the library are unknown, or the callback is not set. */
const struct key *roots_arithmetic(const struct roots *roots);
const struct key *roots_companion(const struct roots *roots);

void roots_free(struct roots *roots);

/* ---- directories */

/* directories_number() is quadratic; requests with more directories are path-dependent instead. */
#define DIRECTORIES_MAX 128

/* A directory as it was spelled, and the number of its root. */
struct request_directory {
	const char *text;
	size_t size; /* without one trailing slash */
	size_t root;
};

/* The two fields that directories_put() writes. */
enum directory_tag { REQUEST_TAG_ROOT = 28, REQUEST_TAG_REST = 29 };

struct directories {
	size_t count;
	struct request_directory list[DIRECTORIES_MAX];
	struct roots roots;
};

bool directories_add(struct directories *directories, const char *text, size_t size);
/* Finds the roots and gives each directory the number of its root. */
int directories_number(struct directories *directories);
/* Writes the number of the root of the directory added as number `index`, and the rest of its text after the root. */
void directories_put(struct stream *stream, const struct directories *directories, size_t index);

/* Returns true if no component is empty, "." or "..": then every path in the directory starts with its text and "/". */
bool directories_plain(const char *path, size_t size);

#endif

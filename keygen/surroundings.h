/* SPDX-License-Identifier: MIT */
/*
 * surroundings: the fields of a request that all compilers share, and its directories (docs/DESIGN.md B1, B6, B8)
 *
 * Purpose: writes which compiler compiles, in which namespace and directory, with which environment and rounding mode,
 * and after which earlier compilations of the handle. The fields are in three places of the call run, and a compiler
 * writes its own fields between them (its describe() gives the order):
 *
 *     surroundings_begin()    CALL format, IDENTITY, NAMESPACE?, PLACE, the place
 *     surroundings_compute()  FLOATING_POINT, DECIMALS?
 *     surroundings_end()      (VARIABLE, VALUE?)*, HISTORY*
 *
 *     place  neutral: ROOTS count, then NAME if it is relative and has a directory, or ROOT + REST if absolute
 *            bound: NAME, PWD?, CWD     bound without a cwd: NAME, PWD?
 *
 * A call run begins with CALL and contains it once, and no creation run begins with it, so a call run alone never
 * equals the creation run and call run of another request.
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
 *
 * Errors of the other functions: those of the stream (`failed`). Ownership: everything is the caller's.
 */
#ifndef KEYGEN_SURROUNDINGS_H
#define KEYGEN_SURROUNDINGS_H

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

/* ---- fields of all requests ---- */

#define REQUEST_FORMAT 3

/* Tags of all compilers' requests; 1 to 15, 24 to 27 and 30 are each compiler's own (28, 29: enum directory_tag). */
enum request_tag {
	REQUEST_TAG_CALL = 16,
	REQUEST_TAG_IDENTITY = 17,
	REQUEST_TAG_NAMESPACE = 18,
	REQUEST_TAG_PLACE = 19,
	REQUEST_TAG_ROOTS = 20,
	REQUEST_TAG_NAME = 21,
	REQUEST_TAG_PWD = 22,
	REQUEST_TAG_CWD = 23,
	REQUEST_TAG_VARIABLE = 31,
	REQUEST_TAG_VALUE = 32,
	REQUEST_TAG_HISTORY = 33,
	REQUEST_TAG_FLOATING_POINT = 34,
	REQUEST_TAG_DECIMALS = 35
};

struct environment_value {
	const char *name;
	const char *value; /* NULL: not set */
};

struct surroundings {
	const uint8_t *identity; /* the bytes that distinguish one compiler library from another */
	size_t identity_size;
	const char *namespace_name;                  /* NVRTCCACHE_NAMESPACE, or NULL */
	const struct environment_value *environment; /* the variables that the compiler reads, in a fixed order */
	size_t environment_count;
	const struct key *history; /* keys of the earlier compiles of this handle, oldest first */
	size_t history_count;
	uint64_t floating_point; /* the thread's rounding mode and related bits, which affect folded constants */
	const char *decimals;    /* the decimal separator of the locale if it is not a dot; else NULL */
	const char *cwd;         /* absolute, or NULL if unknown: then the request is path-dependent */
	const char *pwd;         /* $PWD if it names the same directory as ".", else NULL */
};

/* The name of the program. `lies` decides how a path-neutral request contains its directory. */
struct request_name {
	const char *text;
	enum { NAME_WITHOUT_DIRECTORY, NAME_IN_RELATIVE_DIRECTORY, NAME_IN_FIRST_DIRECTORY } lies;
};

/* `directories` must be numbered; the request is then path-neutral. NULL: the request is path-dependent. */
void surroundings_begin(struct stream *stream, const struct surroundings *surroundings, const struct request_name *name,
                        const struct directories *directories);
void surroundings_compute(struct stream *stream, const struct surroundings *surroundings);
void surroundings_end(struct stream *stream, const struct surroundings *surroundings);

#endif

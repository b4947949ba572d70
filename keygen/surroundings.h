/* SPDX-License-Identifier: MIT */
/*
 * surroundings: the fields of a request that all compilers share (docs/DESIGN.md B1, B6, B8)
 *
 * Purpose: writes which compiler compiles, in which namespace and directory, with which environment and rounding mode,
 * and after which earlier compilations of the handle. The fields are in three places of the call run, and a compiler
 * writes its own fields between them (its request.h gives the order):
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
 * Errors: those of the stream (`failed`). Ownership: everything is the caller's.
 */
#ifndef KEYGEN_SURROUNDINGS_H
#define KEYGEN_SURROUNDINGS_H

#include "keygen/digest.h"
#include "keygen/directories.h"
#include "keygen/stream.h"

#define REQUEST_FORMAT 3

/* Tags of all compilers' requests; 1 to 15, 24 to 27 and 30 are each compiler's own (28, 29: keygen/directories.h). */
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

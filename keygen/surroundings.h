/* SPDX-License-Identifier: MIT */
/*
 * surroundings: what every compile is asked in, whatever its compiler is (docs/DESIGN.md B1, B6, B8)
 *
 * Purpose: the fields of a request that all compilers share: which compiler, in which namespace, where, by whose
 * environment, in which rounding mode, after what. They stand at three places of the call run, between which a compiler
 * writes its own (its request page says in which order):
 *
 *     surroundings_begin()    CALL format, IDENTITY, NAMESPACE?, PLACE, the place
 *     surroundings_compute()  FLOATING_POINT, DECIMALS?
 *     surroundings_end()      (VARIABLE, VALUE?)*, HISTORY*
 *
 *     place  neutral: ROOTS count, then NAME where it is relative and has a directory, or ROOT + REST where absolute
 *            bound: NAME, PWD?, CWD     bound without a cwd: NAME, PWD?
 *
 * CALL comes first and once, and no creation run begins with it, so a call run alone is no other request's pair.
 *
 * Errors: those of the stream (`failed`). Ownership: everything is the caller's.
 */
#ifndef KEYGEN_SURROUNDINGS_H
#define KEYGEN_SURROUNDINGS_H

#include "keygen/digest.h"
#include "keygen/directories.h"
#include "keygen/stream.h"

#define REQUEST_FORMAT 2

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
	const uint8_t *identity; /* of the compiler: whatever tells one library from another */
	size_t identity_size;
	const char *namespace_name;                  /* NVRTCCACHE_NAMESPACE, or NULL */
	const struct environment_value *environment; /* those the compiler is known to read, in a fixed order */
	size_t environment_count;
	const struct key *history; /* keys of the earlier compiles of this handle, oldest first (B8) */
	size_t history_count;
	uint64_t floating_point; /* the thread's rounding mode and the like: constants are folded by it */
	const char *decimals;    /* how the locale spells decimals, where not with a dot; else NULL */
	const char *cwd;         /* absolute, or NULL where it could not be had: then nothing is path-neutral */
	const char *pwd;         /* $PWD if it names the same directory as ".", else NULL */
};

/* The name of what is compiled, and what stands for it where the request is neutral of its place. */
struct request_name {
	const char *text;
	enum { NAME_WITHOUT_DIRECTORY, NAME_IN_RELATIVE_DIRECTORY, NAME_IN_FIRST_DIRECTORY } lies;
};

/* `directories`, numbered: the request is neutral of its place. NULL: bound. */
void surroundings_begin(struct stream *stream, const struct surroundings *surroundings, const struct request_name *name,
                        const struct directories *directories);
void surroundings_compute(struct stream *stream, const struct surroundings *surroundings);
void surroundings_end(struct stream *stream, const struct surroundings *surroundings);

#endif

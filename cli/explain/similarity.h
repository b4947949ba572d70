/* SPDX-License-Identifier: MIT */
/*
 * similarity: how near two requests can be at most, at the price of a few compares
 *
 * Purpose: to compare two requests costs about a microsecond, and what is explained is compared with every result that a
 * directory holds. Nearly all of these cannot be the nearest, which a few numbers that are made once for each tell.
 *
 * Calling sequence: similarity_of() each, then similarity_related() and similarity_least() of pairs. What they say is never
 * wrong, and may be little: what is related may turn out not to be, and the weight is not above the true one. Threads:
 * any. Errors: none. Ownership: nothing is pointed to.
 */
#ifndef CLI_SIMILARITY_H
#define CLI_SIMILARITY_H

#include "cli/explain/request.h"

/* Sets of texts, a bit for each: a text that has no bit is not there. */
enum similarity_set {
	SIMILARITY_OPTIONS, /* but for -I: these are compared by what they lead to */
	SIMILARITY_EXPRESSIONS,
	SIMILARITY_SOURCES,
	SIMILARITY_INPUTS,
	SIMILARITY_HEADERS,
	SIMILARITY_PARTS, /* the rest that is always told */
	SIMILARITY_SETS
};

struct similarity {
	uint64_t scope; /* compiler and step */
	uint64_t program;
	uint64_t source;  /* the first one's */
	uint64_t options; /* all of them, however often and in whichever order */
	uint64_t sets[SIMILARITY_SETS];
	bool is_named;
	bool has_source;
	bool is_cut;
};

struct similarity similarity_of(const struct request *request);

/* False: they are not (differences_related()). */
bool similarity_related(const struct similarity *now, const struct similarity *was);

/* differences_weight() is not less. */
unsigned similarity_least(const struct similarity *now, const struct similarity *was);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * likeness: how near two requests can be at most, at the price of a few compares
 *
 * Purpose: to compare two requests costs about a microsecond, and what is explained is compared with every result that a
 * directory holds. Nearly all of these cannot be the nearest, which a few numbers that are made once for each tell.
 *
 * Calling sequence: likeness_of() each, then likeness_related() and likeness_least() of pairs. What they say is never
 * wrong, and may be little: what is related may turn out not to be, and the weight is not above the true one. Threads:
 * any. Errors: none. Ownership: nothing is pointed to.
 */
#ifndef CLI_LIKENESS_H
#define CLI_LIKENESS_H

#include "cli/explain/request.h"

/* Sets of texts, a bit for each: a text that has no bit is not there. */
enum likeness_set {
	LIKENESS_OPTIONS, /* but for -I: these are compared by what they lead to */
	LIKENESS_EXPRESSIONS,
	LIKENESS_SOURCES,
	LIKENESS_INPUTS,
	LIKENESS_HEADERS,
	LIKENESS_PARTS, /* the rest that is always told */
	LIKENESS_SETS
};

struct likeness {
	uint64_t scope; /* compiler and step */
	uint64_t program;
	uint64_t source;  /* the first one's */
	uint64_t options; /* all of them, however often and in whichever order */
	uint64_t sets[LIKENESS_SETS];
	bool is_named;
	bool has_source;
	bool is_cut;
};

struct likeness likeness_of(const struct request *request);

/* False: they are not (differences_related()). */
bool likeness_related(const struct likeness *now, const struct likeness *was);

/* differences_weight() is not less. */
unsigned likeness_least(const struct likeness *now, const struct likeness *was);

#endif

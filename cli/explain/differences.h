/* SPDX-License-Identifier: MIT */
/*
 * differences: what two requests differ in, by what they say of themselves (keygen/about.h)
 *
 * Purpose: "option -DN=8 was -DN=4". Only what is in the key counts: the directory of a -I that is a root may be
 * another, and so may that of the program's name if the request is not path-dependent.
 *
 * Calling sequence: request_read() twice, differences_find(), look, differences_free(). `weight` is small if the
 * requests are close, and 0 if they do not differ. Threads: one. Errors: without memory some differences are missing.
 * Ownership: texts point into the requests' bytes.
 */
#ifndef CLI_EXPLAIN_DIFFERENCES_H
#define CLI_EXPLAIN_DIFFERENCES_H

#include "cli/console/request.h"

/* The parts of a request; differences.c has the table of how each is compared and what is said about it. */
enum difference_kind {
	DIFFERENCE_COMPILER,
	DIFFERENCE_BUILD,
	DIFFERENCE_PROGRAM,
	DIFFERENCE_SOURCE,
	DIFFERENCE_INPUT,
	DIFFERENCE_HEADER,
	DIFFERENCE_VARIABLE,
	DIFFERENCE_ROUNDING,
	DIFFERENCE_DECIMALS,
	DIFFERENCE_NAMESPACE,
	DIFFERENCE_EARLIER,
	DIFFERENCE_EARLIER_INPUTS,
	DIFFERENCE_OTHER,
	DIFFERENCE_HEADER_ORDER,
	DIFFERENCE_OPTION,
	DIFFERENCE_OPTION_ORDER,
	DIFFERENCE_EXPRESSION,
	DIFFERENCE_EXPRESSION_ORDER,
	DIFFERENCE_PLACE,
	DIFFERENCE_PWD,
	DIFFERENCE_KINDS
};

/* All but CHANGED say which of the two has it. */
enum difference_way { DIFFERENCE_CHANGED, DIFFERENCE_NEW, DIFFERENCE_GONE };

/* Texts may be empty: no more is known than that there is another. Of an order: what now stands first, and what did. */
struct difference {
	enum difference_kind kind;
	enum difference_way way;
	struct span of; /* which header, variable or input */
	struct request_option now, was;
};

struct differences {
	struct difference *list;
	size_t count;
	unsigned weight;
};

/* Are they of one compiler and step, and of the same program or source? Others are not compared. */
bool differences_related(const struct request *now, const struct request *was);

void differences_find(const struct request *now, const struct request *was, struct differences *ret_differences);
/*
 * Of two requests with the same key: the -I that lead elsewhere. The key ignores that, but other headers may be there.
 */
void differences_find_moved(const struct request *now, const struct request *was, struct differences *ret_differences);
void differences_free(struct differences *differences);
/* Is it the same request from other paths, which are in the key because of debug information or LTO-IR alone? */
bool differences_are_paths(const struct differences *differences, const struct request *now);

/* What "bound path" is called. */
const char *differences_name(enum difference_kind kind);

/* A difference as a person would say it; longer texts are shortened. */
#define DIFFERENCE_TEXT_BYTES 512

struct difference_words {
	char what[DIFFERENCE_TEXT_BYTES]; /* "header inc/vec.h" */
	char now[DIFFERENCE_TEXT_BYTES];
	char was[DIFFERENCE_TEXT_BYTES];
	bool knows_now, knows_was;             /* whether there is one; an empty text may be one */
	char words[3 * DIFFERENCE_TEXT_BYTES]; /* to stand behind `what` */
};

/* `now`: the request that was compared. */
void differences_spell(const struct difference *difference, const struct request *now,
                       struct difference_words *ret_words);

#endif

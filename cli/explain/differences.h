/* SPDX-License-Identifier: MIT */
/*
 * differences: finds the differences of two requests in their about sections (keygen/about.h)
 *
 * Purpose: finds differences like "option -DN=8 was -DN=4". Only facts that are in the key are compared. The directory
 * of a -I that is a root is not, and the directory of the program's name is not unless the request is path-dependent.
 *
 * Calling sequence: request_read() twice, differences_find(), differences_spell() for each, differences_free().
 * `weight` is small if the requests are similar, and 0 if they do not differ. Threads: one. Errors: without memory some
 * differences are missing. Ownership: texts point into the requests' bytes.
 */
#ifndef CLI_EXPLAIN_DIFFERENCES_H
#define CLI_EXPLAIN_DIFFERENCES_H

#include "cli/console/request.h"

/* The parts of a request. A table in differences.c has the weight and the text of each. */
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

/* NEW: only the request `now` has the part. GONE: only the request `was` has it. */
enum difference_way { DIFFERENCE_CHANGED, DIFFERENCE_NEW, DIFFERENCE_GONE };

/*
 * The texts are empty if only the fact of a difference is known. For an order, they are the items that come first now
 * and came first before.
 */
struct difference {
	enum difference_kind kind;
	enum difference_way way;
	struct span of; /* name of the header, variable or input */
	struct request_option now, was;
};

struct differences {
	struct difference *list;
	size_t count;
	unsigned weight;
};

/*
 * Returns whether two requests are worth comparing: they have the same compiler and step, and the same program name or
 * source.
 */
bool differences_related(const struct request *now, const struct request *was);

/* Finds all differences. The caller frees them with differences_free(). */
void differences_find(const struct request *now, const struct request *was, struct differences *ret_differences);
/*
 * Finds the -I options with different directories, for two requests with the same key. The key does not contain these
 * directories, but they may contain other headers.
 */
void differences_find_moved(const struct request *now, const struct request *was, struct differences *ret_differences);
void differences_free(struct differences *differences);
/*
 * Returns whether the requests differ only in paths, which are in the key only because of debug information or LTO-IR.
 */
bool differences_are_paths(const struct differences *differences, const struct request *now);

/* Returns the name of a kind, such as "bound path". */
const char *differences_name(enum difference_kind kind);

/* Size of the texts below; longer ones are shortened. */
#define DIFFERENCE_TEXT_BYTES 512

struct difference_words {
	char what[DIFFERENCE_TEXT_BYTES]; /* "header inc/vec.h" */
	char now[DIFFERENCE_TEXT_BYTES];
	char was[DIFFERENCE_TEXT_BYTES];
	bool knows_now, knows_was;             /* whether the text exists; it may exist and be empty */
	char words[3 * DIFFERENCE_TEXT_BYTES]; /* text that follows `what` */
};

/* Writes the words for a difference. `now` is the request that differences_find() got. */
void differences_spell(const struct difference *difference, const struct request *now,
                       struct difference_words *ret_words);

#endif

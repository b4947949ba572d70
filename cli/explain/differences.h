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

#include "cache/events.h"
#include "cli/console/request.h"

/* What parts of a request are about. */
enum difference_topic {
	DIFFERENCE_SOURCE = 1, /* the source of a program, the input of a link */
	DIFFERENCE_PATHS = 2,  /* paths that are in the key only because the request is path-dependent */
	DIFFERENCE_REST = 4
};

/* NEW: only the request `now` has it. GONE: only the request `was` has it. */
enum difference_way { DIFFERENCE_CHANGED, DIFFERENCE_NEW, DIFFERENCE_GONE };

/* The values are empty if only the fact of a difference is known. */
struct difference {
	enum difference_way way;
	const char *name; /* from the table in differences.c */
	struct span of;   /* name of the header, variable or input */
	struct span now, was;
};

struct differences {
	struct difference *list;
	size_t count;
	unsigned topics; /* those with a difference */
	unsigned weight;
};

/*
 * Returns whether two requests are worth comparing: they have the same compiler and step, and the same program name or
 * source.
 */
bool differences_related(const struct request *now, const struct request *was);

/* Finds all differences. The caller frees them with differences_free(). */
void differences_find(const struct request *now, const struct request *was, struct differences *ret_differences);
void differences_free(struct differences *differences);
/*
 * Returns whether the requests differ only in paths, which are in the key only because of debug information or LTO-IR.
 */
bool differences_are_paths(const struct differences *differences, const struct request *now);

/* Room for the longest text of a record. */
#define DIFFERENCE_TEXT_BYTES EVENTS_RECORD_BYTES

struct difference_words {
	char what[DIFFERENCE_TEXT_BYTES];      /* "variable TZ" */
	char words[3 * DIFFERENCE_TEXT_BYTES]; /* text that follows `what` */
};

void differences_spell(const struct difference *difference, struct difference_words *ret_words);

#endif

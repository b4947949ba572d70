/* SPDX-License-Identifier: MIT */
/*
 * differences: finds the differences of two requests in their about sections (keygen/about.h)
 *
 * Purpose: finds differences like "option -DN=8 was -DN=4". Only facts that are in the key are compared. The directory
 * of a -I that is a root is not, and the directory of the program's name is not unless the request is path-dependent.
 * Threads: one. Errors: without memory differences are missing. Ownership: texts point into the requests' bytes.
 */
#ifndef CLI_EXPLAIN_DIFFERENCES_H
#define CLI_EXPLAIN_DIFFERENCES_H

#include "cli/console/request.h"

#define DIFFERENCES_MAX 20 /* two unrelated command lines may differ in hundreds of options */

/* The bytes of a value are NULL if only the fact of a difference is known, or if the request has no such fact. */
struct difference {
	struct span what; /* "option", "header vec.h" */
	struct span now, was;
	const char *way; /* "has changed", "is new", "is gone" */
};

struct differences {
	struct difference list[DIFFERENCES_MAX];
	size_t count;    /* may be greater than DIFFERENCES_MAX */
	size_t paths;    /* how many are about paths that only a path-dependent request has in its key */
	unsigned weight; /* small if the requests are similar, and 0 if they do not differ */
};

/*
 * Returns whether two requests are worth comparing: they have the same compiler and step, and the same program name or
 * source.
 */
bool differences_related(const struct request *now, const struct request *was);
void differences_find(const struct request *now, const struct request *was, struct differences *ret_differences);

#endif

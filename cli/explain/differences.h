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

/* What parts of a request are about. */
enum difference_topic {
	DIFFERENCE_SOURCE = 1,  /* the source of a program, the input of a link */
	DIFFERENCE_EARLIER = 2, /* earlier compiles of the handle, earlier inputs of a link */
	DIFFERENCE_COMPILER = 4,
	DIFFERENCE_HEADERS = 8,
	DIFFERENCE_OPTIONS = 16,
	DIFFERENCE_PATHS = 32, /* paths that are in the key only because the request is path-dependent */
	DIFFERENCE_REST = 64
};

/*
 * The values are empty if only the fact of a difference is known. For an order, they are the items that come first now
 * and came first before.
 */
struct difference {
	const char *name, *saying; /* from the table in differences.c */
	struct span of;            /* name of the header, variable or input */
	struct request_option now, was;
};

struct differences {
	struct difference *list;
	size_t count;
	unsigned topics;  /* those with a difference */
	unsigned present; /* those of which the request `now` has an item */
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

/* Size of the texts below; longer ones are shortened. */
#define DIFFERENCE_TEXT_BYTES 512

struct difference_words {
	char what[DIFFERENCE_TEXT_BYTES];                            /* "header inc/vec.h" */
	char now[DIFFERENCE_TEXT_BYTES], was[DIFFERENCE_TEXT_BYTES]; /* empty too if the texts are not known */
	char words[3 * DIFFERENCE_TEXT_BYTES];                       /* text that follows `what` */
};

/* Writes the words for a difference. `now` is the request that differences_find() got. */
void differences_spell(const struct difference *difference, const struct request *now,
                       struct difference_words *ret_words);

/* ---- between differences.c and items.c ---- */

/* NEW: only the request `now` has the item. GONE: only the request `was` has it. ORDER: both have it. */
enum difference_way { DIFFERENCE_CHANGED, DIFFERENCE_NEW, DIFFERENCE_GONE, DIFFERENCE_ORDER };

/* Returns whether a single fact differs, and writes its values. */
typedef bool difference_test(const struct request *now, const struct request *was, struct difference *difference);

/* A part of a request: where its facts are, how to compare them, and how to say the difference. */
struct difference_part {
	enum about_kind about;
	/* "": all facts of the kind. If it ends with a blank, the name of a header, variable or input follows. */
	const char *fact;
	difference_test *test; /* NULL: the facts are a list */
	enum difference_topic topic;
	unsigned weight;  /* in the distance of two requests */
	const char *name; /* in messages; "": that of the fact */
	/*
	 * Indexed by enum difference_way. %n and %w are the values now and before, %t is the compiler's title, and %b
	 * is the option that makes the result path-dependent. The last text names a difference in order. NULL: such a
	 * difference is not reported.
	 */
	const char *says[DIFFERENCE_ORDER + 1];
};

struct comparison {
	const struct request *now, *was;
	struct differences *differences;
};

/* Returns the row of a fact, and the part of the fact's text that is printed. */
const struct difference_part *differences_part(enum about_kind about, struct span fact, struct span *ret_of);
/* Adds a difference, which gets its name and its text from the row. */
void differences_add(struct comparison *comparison, const struct difference_part *part, enum difference_way way,
                     struct difference difference);
/* Compares all facts of a kind that have no test of their own. */
void items_compare(struct comparison *comparison, enum about_kind about);

#endif

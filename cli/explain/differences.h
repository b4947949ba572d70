/* SPDX-License-Identifier: MIT */
/*
 * differences: what two requests differ in, by what they say of themselves (keygen/about.h)
 *
 * Purpose: "option -DN=8 was -DN=4". Only what a key sees counts: the directory of a -I that is a root may be another, and
 * so may that of the program's name where the request is not bound to its place.
 *
 * Calling sequence: request_read() twice, differences_tell(). differences_weight() is small where two are near to one
 * another, which tells which of many is the nearest. Threads: one. Errors: where there is no memory less is told.
 * Ownership: texts that are told point into the requests' bytes.
 */
#ifndef CLI_DIFFERENCES_H
#define CLI_DIFFERENCES_H

#include "cli/explain/request.h"

/* X(NAME, weight, how it is called) */
#define DIFFERENCES(X)                                  \
	X(COMPILER, 30, "compiler")                     \
	X(BUILD, 20, "build of the compiler")           \
	X(PROGRAM, 40, "program name")                  \
	X(SOURCE, 60, "source")                         \
	X(INPUT, 10, "input")                           \
	X(OPTION, 4, "option")                          \
	X(OPTION_ORDER, 3, "order of options")          \
	X(HEADER, 8, "header")                          \
	X(HEADER_ORDER, 3, "order of headers")          \
	X(EXPRESSION, 5, "name expression")             \
	X(EXPRESSION_ORDER, 3, "order of names")        \
	X(VARIABLE, 4, "variable")                      \
	X(ROUNDING, 4, "arithmetic mode")               \
	X(DECIMALS, 4, "decimals of the locale")        \
	X(NAMESPACE, 6, "namespace")                    \
	X(PLACE, 3, "bound path")                       \
	X(EARLIER, 8, "earlier compiles of the handle") \
	X(EARLIER_INPUTS, 8, "earlier inputs")          \
	X(OTHER, 8, "part")

enum difference_kind {
#define DIFFERENCE_ENUM(name, weight, text) DIFFERENCE_##name,
	DIFFERENCES(DIFFERENCE_ENUM)
#undef DIFFERENCE_ENUM
	    DIFFERENCE_KINDS
};

const char *difference_name(enum difference_kind kind);

static inline unsigned differences_weight_of(enum difference_kind kind)
{
	static const unsigned weights[DIFFERENCE_KINDS] = {
#define DIFFERENCE_WEIGHT(name, weight, text) [DIFFERENCE_##name] = (weight),
	    DIFFERENCES(DIFFERENCE_WEIGHT)
#undef DIFFERENCE_WEIGHT
	};

	return weights[kind];
}

/* What became of it: all but CHANGED say which of the two has it. */
enum difference_way { DIFFERENCE_CHANGED, DIFFERENCE_NEW, DIFFERENCE_GONE };

/* Texts may be empty: nobody knows more than that it is another. Of an order: what stands now where that
 * stood; of one of options: what has moved, and past which. */
struct difference {
	enum difference_kind kind;
	enum difference_way way;
	struct span of;                 /* which header, variable or input */
	struct request_option now, was; /* `value` only of options */
	struct span by;                 /* of a place: the option that binds */
	bool before;                    /* of an order of options: `now` stands before `was`, and stood behind it */
};

typedef void difference_visit(const struct difference *difference, void *context);

/* Of differences_tell(), the options alone (differences_options.c). */
void differences_tell_options(const struct request *now, const struct request *was, difference_visit *each,
                              void *context);

/* Of two of one key, the -I that lead elsewhere: no difference by themselves, but other headers may lie there. */
void differences_tell_moved(const struct request *now, const struct request *was, difference_visit *each,
                            void *context);

/* What a part's name stands for; `ret_of`: which one of that kind. False: other differences tell of it. */
bool differences_part_kind(struct span name, enum difference_kind *ret_kind, struct span *ret_of);
/* Is it a -I with its directory? Two such may differ and mean the same. */
bool differences_is_include(const struct request_option *option);
/* A name that stands for none says nothing. */
bool differences_is_named(struct span program);

/* Are they of one compiler and step, and of one program or source? Others are not compared. */
bool differences_related(const struct request *now, const struct request *was);
void differences_tell(const struct request *now, const struct request *was, difference_visit *each, void *context);
unsigned differences_weight(const struct request *now, const struct request *was);

/* A difference as a person would say it (difference_words.c). */
#define DIFFERENCE_TEXT_BYTES 512

/* What differs ("header inc/vec.h"), what it is now and what it was; longer texts are cut. */
struct difference_words {
	char what[DIFFERENCE_TEXT_BYTES];
	char now[DIFFERENCE_TEXT_BYTES];
	char was[DIFFERENCE_TEXT_BYTES];
	bool knows_now, knows_was;             /* else nobody can say, or there is none; what is known may be empty */
	char words[3 * DIFFERENCE_TEXT_BYTES]; /* what to put behind `what` */
};

/* `title`: of the compiler. */
void difference_in_words(const struct difference *difference, struct span title, struct difference_words *ret_words);

#endif

/* SPDX-License-Identifier: MIT */
/* difference_words: a difference as a person would say it */
#ifndef CLI_DIFFERENCE_WORDS_H
#define CLI_DIFFERENCE_WORDS_H

#include "cli/differences.h"

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

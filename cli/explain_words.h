/* SPDX-License-Identifier: MIT */
/*
 * explain_words: an explanation as lines for people, and as JSON, on standard output
 *
 * Bytes that could command a terminal never reach one from the first; the second has them all.
 */
#ifndef CLI_EXPLAIN_WORDS_H
#define CLI_EXPLAIN_WORDS_H

#include "cli/explanation.h"

void explain_in_words(const struct explanation *explanation);
void explain_as_json(const struct explanation *explanation);

#endif

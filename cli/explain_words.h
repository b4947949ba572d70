/* SPDX-License-Identifier: MIT */
/*
 * explain_words: an explanation as lines for people, on standard output
 *
 * Bytes that could command a terminal never reach one.
 */
#ifndef CLI_EXPLAIN_WORDS_H
#define CLI_EXPLAIN_WORDS_H

#include "cli/explanation.h"

void explain_in_words(const struct explanation *explanation);

#endif

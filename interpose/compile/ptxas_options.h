/* SPDX-License-Identifier: MIT */
/*
 * ptxas_options: what the assembler in every compiler can be told
 *
 * Calling sequence: pure functions. Threads, fork, signals: no state. Errors: none.
 */
#ifndef INTERPOSE_COMPILE_PTXAS_OPTIONS_H
#define INTERPOSE_COMPILE_PTXAS_OPTIONS_H

#include <stdbool.h>

/* "-v,-O2": are all of them such that leave nothing behind in the process? Of those that --help lists, with values. */
bool ptxas_options_cleared(const char *value);

#endif

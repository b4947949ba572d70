/* SPDX-License-Identifier: MIT */
/*
 * ptxas_options: options of ptxas that have no effect on later compilations of the process
 *
 * Calling sequence: pure functions. Threads, fork, signals: no state. Errors: none.
 */
#ifndef INTERPOSE_COMPILE_PTXAS_OPTIONS_H
#define INTERPOSE_COMPILE_PTXAS_OPTIONS_H

#include <stdbool.h>

/* Returns true if all options of a list ("-v,-O2") are among those of --help that have no such effect, with values. */
bool ptxas_options_cleared(const char *value);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * ptxas_options: options of ptxas that have no effect on later compilations of the process
 *
 * Calling sequence: pure functions. Threads, fork, signals: no state. Errors: none.
 */
#ifndef INTERPOSE_COMPILE_PTXAS_OPTIONS_H
#define INTERPOSE_COMPILE_PTXAS_OPTIONS_H

#include <stdbool.h>

/*
 * Returns true if every option of a list ("-v,-O2") is an option of `ptxas --help` without such an effect, for all of
 * its values.
 */
bool ptxas_options_cleared(const char *value);

#endif

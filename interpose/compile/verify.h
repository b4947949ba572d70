/* SPDX-License-Identifier: MIT */
/*
 * verify: is what the real library now says what the entry would have said? (NVRTCCACHE_VERIFY, docs/DESIGN.md B14)
 *
 * Calling sequence: verify_compare() after the real compile of an attempt that had found `expected`. Counts and logs a
 * difference, unless the entry does not hold any more, or the process has been given an option that lingers.
 * Threads, fork, signals: no state. Errors: what cannot be compared is counted as such.
 */
#ifndef INTERPOSE_COMPILE_VERIFY_H
#define INTERPOSE_COMPILE_VERIFY_H

#include "interpose/compile/attempt.h"
#include "interpose/compile/handle.h"

void verify_compare(struct program *program, const struct attempt *attempt, int option_count,
                    const char *const *options, int return_code, const struct entry *expected);

#endif

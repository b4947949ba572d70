/* SPDX-License-Identifier: MIT */
/*
 * verify: is what the real library now says what the entry would have said? (NVRTCCACHE_VERIFY, docs/DESIGN.md B14)
 *
 * Calling sequence: verify_compare() after the real compile of an attempt that had found `expected`. Counts and logs a
 * difference, unless the entry does not hold any more, or the process has been told something that lasts.
 * Errors: what cannot be compared is counted as such.
 */
#ifndef INTERPOSE_COMPILE_VERIFY_H
#define INTERPOSE_COMPILE_VERIFY_H

#include "interpose/compile/attempt.h"

void verify_compare(const struct handle *handle, const struct attempt *attempt, const struct entry *expected);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * verify: compares the real library's result with a cached one (NVRTCCACHE_VERIFY)
 *
 * Calling sequence: verify_compare() after the real compilation of an attempt that had found `expected`. Counts and
 * logs a difference, unless the entry's dependencies no longer hold or the process used an option with process-wide
 * effect. Errors: a result that cannot be compared is counted as such.
 */
#ifndef INTERPOSE_COMPILE_VERIFY_H
#define INTERPOSE_COMPILE_VERIFY_H

#include "interpose/compile/attempt.h"

void verify_compare(const struct handle *handle, const struct attempt *attempt, const struct entry *expected);

#endif

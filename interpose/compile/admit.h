/* SPDX-License-Identifier: MIT */
/*
 * admit: decides whether a result may be cached, and builds its entry (docs/DESIGN.md); with NVRTCCACHE_VERIFY
 * compares it with a cached one
 *
 * The decision depends on what was observed: return code, taints, whether the watch saw anything, environment, the
 * compiler's companion library, paths. A result that is not cached is counted with its reason.
 *
 * Calling sequence: after the real compilation of an attempt admit_result(), if its event describes the request
 * (`about`), or admit_compare(), if the attempt had found an entry. Errors: the result is not cached; a result that
 * cannot be compared is counted as such.
 */
#ifndef INTERPOSE_COMPILE_ADMIT_H
#define INTERPOSE_COMPILE_ADMIT_H

#include "interpose/compile/attempt.h"

/* Returns the entry to be cached, with a reference. NULL: none; `ret_reason` and the event say why. */
struct entry *admit_result(const struct handle *handle, struct attempt *attempt, enum counter *ret_reason);
/*
 * Counts and logs a difference between the result and the cached one, unless the entry's dependencies no longer hold or
 * the process used an option with process-wide effect.
 */
void admit_compare(const struct handle *handle, const struct attempt *attempt, const struct entry *expected);

#endif

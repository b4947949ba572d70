/* SPDX-License-Identifier: MIT */
/*
 * admit: decides whether a result may be cached, and builds its entry (docs/DESIGN.md)
 *
 * The decision depends on what was observed: return code, taints, whether the watch saw anything, environment, the
 * compiler's companion library, paths. A result that is not cached is counted with its reason.
 *
 * Calling sequence: admit_result() after the real compilation of an attempt, whose event describes the request
 * (`about`). Errors: the result is not cached.
 */
#ifndef INTERPOSE_COMPILE_ADMIT_H
#define INTERPOSE_COMPILE_ADMIT_H

#include "interpose/compile/attempt.h"

/* Returns the entry to be cached, with a reference. NULL: none; `ret_reason` and the event say why. */
struct entry *admit_result(const struct handle *handle, struct attempt *attempt, enum counter *ret_reason);

#endif

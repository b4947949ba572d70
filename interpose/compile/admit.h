/* SPDX-License-Identifier: MIT */
/*
 * admit: may this result be kept, and keeping it (docs/DESIGN.md B2-B13)
 *
 * Decides by what was observed: return code, taints, whether the watch saw anything, environment, what the compiler
 * loads by itself, paths. Whatever is not kept is counted with its reason.
 *
 * Calling sequence: admit_result() after the real compile of an attempt.
 * Errors: a result is simply not kept.
 */
#ifndef INTERPOSE_COMPILE_ADMIT_H
#define INTERPOSE_COMPILE_ADMIT_H

#include "interpose/compile/attempt.h"

/* What was kept of it, with a reference; NULL: nothing. */
struct entry *admit_result(struct handle *handle, const struct call *call, struct attempt *attempt);

#endif

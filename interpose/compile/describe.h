/* SPDX-License-Identifier: MIT */
/*
 * describe: what one call asks for, as a request (docs/DESIGN.md B1, B8)
 *
 * Calling sequence: describe() fills the request of an attempt and the spans that its key and fingerprint are made of;
 * describes_still() after the real compile: is the request what it was before?
 * `earlier` is the number of the handle's calls before this one: those whose keys are its history.
 * Errors: COUNTER_NONE, or the reason why this cannot be described: it is then passed through.
 * Ownership: the attempt's (attempt_forget_request()).
 */
#ifndef INTERPOSE_COMPILE_DESCRIBE_H
#define INTERPOSE_COMPILE_DESCRIBE_H

#include "interpose/compile/attempt.h"
#include "interpose/compile/handle.h"

enum counter describe(struct handle *handle, size_t earlier, const struct call *call, struct attempt *attempt);
/* Other threads may change the directory or the environment while the compiler works: which of both did it see? */
bool describes_still(struct handle *handle, const struct call *call, const struct attempt *attempt);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * describe: what one nvrtcCompileProgram asks for, as a request (docs/DESIGN.md B1, B8)
 *
 * Calling sequence: describe() fills the request of an attempt and the spans that its key and fingerprint are made of;
 * still_asked() after the real compile: is the request what it was before?
 * `earlier` is the number of the handle's compiles before this one: those whose keys are its history.
 * Errors: COUNTER_NONE, or the reason why this cannot be described: it is then passed through.
 * Threads, fork, signals: no state. Ownership: the attempt's (attempt_forget_request()).
 */
#ifndef INTERPOSE_NVRTC_DESCRIBE_H
#define INTERPOSE_NVRTC_DESCRIBE_H

#include "interpose/compile/attempt.h"
#include "interpose/compile/handle.h"

enum counter describe(struct program *program, size_t earlier, int option_count, const char *const *options,
                      struct attempt *attempt);
/* Other threads may change the directory or the environment while the compiler works: which of both did it see? */
bool still_asked(struct program *program, int option_count, const char *const *options, const struct attempt *attempt);

#endif

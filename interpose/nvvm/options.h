/* SPDX-License-Identifier: MIT */
/*
 * options: which of them work on in later calls of the process (docs/DESIGN.md B17)
 *
 *   -restrict             12.4 and later: every later compile, as with NVRTC
 *   -split-compile=       12.0: the same
 *   -Xopt X, -Xllc X      LLVM's own, which are the process's
 *
 * What follows one of these is not kept, nor what follows an option that is not known to be clear; releases before the
 * first that goes on obeying one are not told apart, as they all say that they are 2.0. A hit gives what the call alone
 * gives, so it is allowed.
 *
 * Calling sequence: nvvm_options_begin() before each real call, nvvm_options_end() after it; nvvm_options_spoil() after
 * that, before its result is kept. Threads: any; a call in one thread that begins before another ends spoils both. Fork:
 * a child inherits what the library has been through. Errors, signals: none; a call that never ends spoils for good.
 */
#ifndef INTERPOSE_NVVM_OPTIONS_H
#define INTERPOSE_NVVM_OPTIONS_H

#include "interpose/compile/library.h"

/* What a library has been told that lasts (a set; struct library, `told`). */
enum nvvm_told { TOLD_STICKY = 1, TOLD_UNCLEARED = 2 };

/* What they tell the library that lasts; sound or not. */
uint32_t nvvm_options_tell(const struct call *call);

/* Gives what is told to nvvm_options_end(). */
uint32_t nvvm_options_begin(struct library *library, const struct call *call);
void nvvm_options_end(struct library *library, uint32_t told, int result);
/* Why nothing that the library makes now may be kept, or COUNTER_NONE. */
enum counter nvvm_options_spoil(const struct library *library);

#endif

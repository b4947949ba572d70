/* SPDX-License-Identifier: MIT */
/*
 * options: which options of libNVVM affect later calls of the process (docs/DESIGN.md B17)
 *
 *   -restrict             12.4 and later: every later compilation, as with NVRTC
 *   -split-compile=       12.0: the same
 *   -Xopt X, -Xllc X      LLVM's own options, which are process-wide
 *
 * Results after one of these options, or after an option that is not known to be clear, are not cached. This applies
 * to all releases, because they all report version 2.0 and cannot be told apart. A hit returns what the call alone
 * returns, so it is allowed.
 *
 * Calling sequence: nvvm_options_begin() before each real call, nvvm_options_end() after it; nvvm_options_spoil()
 * after that, before its result is cached. Threads: any; a call that begins before a call in another thread ends
 * affects both. Fork: the child inherits the library's state. Errors, signals: none; after a call that never returns
 * nothing is cached.
 */
#ifndef INTERPOSE_NVVM_OPTIONS_H
#define INTERPOSE_NVVM_OPTIONS_H

#include "interpose/compile/library.h"

/* Lasting options that a library was given (a set; `told` of struct library). */
enum nvvm_told { TOLD_STICKY = 1, TOLD_UNCLEARED = 2 };

/* Returns the lasting options of the call, whether its arguments are valid or not. */
uint32_t nvvm_options_tell(const struct call *call);

/* Returns the value for nvvm_options_end(). */
uint32_t nvvm_options_begin(struct library *library, const struct call *call);
void nvvm_options_end(struct library *library, uint32_t told, int result);
/* Returns why results of the library must not be cached now, or COUNTER_NONE. */
enum counter nvvm_options_spoil(const struct library *library);

#endif

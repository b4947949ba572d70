/* SPDX-License-Identifier: MIT */
/*
 * options: decides which options of libNVVM affect later calls of the process (docs/DESIGN.md)
 *
 *   -restrict             12.4 and later: affects every later compilation, as with NVRTC
 *   -split-compile=       12.0: the same
 *   -Xopt X, -Xllc X      options of LLVM itself, which are process-wide
 *
 * Results after one of these options, or after an option that is not known to be clear, are not cached. This applies to
 * all releases, because they all report version 2.0 and cannot be distinguished. A hit returns the result of the call
 * alone, so hits are still served.
 *
 * Calling sequence: nvvm_options_begin() before each real call, nvvm_options_end() after it; nvvm_options_spoil() after
 * that, before the call's result is cached. Threads: any; a call that begins before a call in another thread ends
 * counts as affected, too. Fork: the child inherits the library's state. Errors, signals: none; after a call with such
 * options that never returns, no result is cached.
 */
#ifndef INTERPOSE_NVVM_OPTIONS_H
#define INTERPOSE_NVVM_OPTIONS_H

#include "interpose/compile/library.h"

/* Options with process-wide effect that a library was given (bits of `told` in struct library). */
enum nvvm_told { TOLD_STICKY = 1, TOLD_UNCLEARED = 2 };

/* Returns the options with process-wide effect in the call, whether its arguments are valid or not. */
uint32_t nvvm_options_tell(const struct call *call);

/* Returns true if an option passes an option of LLVM itself, or is not known. */
bool nvvm_options_may_write(const struct call *call);

/* Records that a call with such options runs. Returns the value for nvvm_options_end(). */
uint64_t nvvm_options_begin(struct library *library, const struct call *call);
void nvvm_options_end(struct library *library, uint64_t told, int result);
/* Returns the reason why results of the library must not be cached now, or COUNTER_NONE. */
enum counter nvvm_options_spoil(const struct library *library);

#endif

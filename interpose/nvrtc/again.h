/* SPDX-License-Identifier: MIT */
/*
 * again: the same compile once more, on a program of its own (interpose/compile/twice.h asks for it)
 *
 * Calling sequence: again_compile() is the compiler's again(); the handle's creation run must be there.
 * Errors: NULL. Ownership: the entry is the caller's.
 */
#ifndef INTERPOSE_NVRTC_AGAIN_H
#define INTERPOSE_NVRTC_AGAIN_H

#include "interpose/compiler.h"

struct entry *again_compile(const struct handle *handle, const struct call *call, const struct entry *first);

#endif

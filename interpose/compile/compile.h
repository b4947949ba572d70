/* SPDX-License-Identifier: MIT */
/*
 * compile: the way of one call that makes something, such as nvrtcCompileProgram (docs/DESIGN.md B, D)
 *
 *     request -> memory front -> store -> hit: serve
 *                                      -> miss: replay history, real compile (watched), keep what may be kept
 *     anything in doubt: the real compile, counted with the reason ("passed through")
 *
 * Calling sequence: compile_call() for a handle that we know. It returns what the host gets.
 * Threads: any number at once, on different handles. No lock of ours is held during a real compile or a file access.
 * Fork: nothing but the handle's own record is touched. Errors: none reach the host (A2).
 */
#ifndef INTERPOSE_COMPILE_COMPILE_H
#define INTERPOSE_COMPILE_COMPILE_H

#include "interpose/compile/handle.h"

int compile_call(struct handle *handle, const struct call *call);

#endif

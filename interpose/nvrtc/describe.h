/* SPDX-License-Identifier: MIT */
/*
 * describe: what one nvrtcCompileProgram asks for, and what it is given (docs/DESIGN.md B1, B5, B6)
 *
 * Calling sequence: the compiler's describe(), prepare() and free_attempt() (interpose/compiler.h).
 */
#ifndef INTERPOSE_NVRTC_DESCRIBE_H
#define INTERPOSE_NVRTC_DESCRIBE_H

#include "interpose/compiler.h"

enum counter describe_compile(struct handle *handle, const struct call *call, struct surroundings *around,
                              const struct snapshot *told, struct attempt *attempt);
bool describe_prepare(const struct handle *handle, const struct call *call, struct attempt *attempt);
void describe_free(struct attempt *attempt);

#endif

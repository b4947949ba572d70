/* SPDX-License-Identifier: MIT */
/*
 * compiler: NVRTC, as interpose/compiler.h asks for it
 *
 * compiler.c has the small answers, and names the files of the large ones.
 */
#ifndef INTERPOSE_NVRTC_COMPILER_H
#define INTERPOSE_NVRTC_COMPILER_H

#include "interpose/compiler.h"

extern const struct compiler nvrtc_compiler;

#endif

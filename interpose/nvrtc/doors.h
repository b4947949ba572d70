/* SPDX-License-Identifier: MIT */
/*
 * doors: before NVRTC's functions (interpose/door/doors.h says what kinds there are)
 *
 * One handler per function of NVRTC_HANDLED and NVRTC_PRIVATE: handle_X(door, the function's own parameters). A program
 * that we do not know is forwarded untouched. Every handler leaves errno as the real function left it, or, where that
 * was not called, as the host had it.
 */
#ifndef INTERPOSE_NVRTC_DOORS_H
#define INTERPOSE_NVRTC_DOORS_H

#include "interpose/door/make.h"
#include "interpose/nvrtc/functions.h"
#include "interpose/nvrtc/types.h"

#define HANDLER(name, since, gone, parameters, ...) int handle_##name(const struct door *door, DOOR_UNPACK parameters);
NVRTC_HANDLED(HANDLER)
NVRTC_PRIVATE(HANDLER)
#undef HANDLER

/* __nvrtcCPEx is nvrtcCreateProgram with extensions: ours without extensions, passed through with them (A7). */
#define NVRTC_THUNK_COUNT (FUNCTION_COUNT + 1)

extern const struct door_thunks nvrtc_thunks[NVRTC_THUNK_COUNT];

#endif

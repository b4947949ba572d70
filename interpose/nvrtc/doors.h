/* SPDX-License-Identifier: MIT */
/*
 * doors: before NVRTC's functions (interpose/door/doors.h says what kinds there are)
 */
#ifndef INTERPOSE_NVRTC_DOORS_H
#define INTERPOSE_NVRTC_DOORS_H

#include "interpose/door/doors.h"
#include "interpose/nvrtc/functions.h"

/* __nvrtcCPEx is nvrtcCreateProgram with extensions: ours without extensions, passed through with them (A7). */
#define NVRTC_THUNK_COUNT (FUNCTION_COUNT + 1)

extern const struct door_thunks nvrtc_thunks[NVRTC_THUNK_COUNT];

#endif

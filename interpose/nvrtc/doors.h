/* SPDX-License-Identifier: MIT */
/*
 * doors: the handlers of NVRTC's functions (interpose/door/doors.h lists the kinds of doors)
 *
 * One handler per function of NVRTC_HANDLED and NVRTC_PRIVATE: handle_X(door, the function's own parameters). A call
 * about an unknown program is forwarded unchanged. errno is what the real function left, or, if it was not called,
 * what the host had.
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

/* __nvrtcCPEx is nvrtcCreateProgram with extensions; without extensions it is cached, with them bypassed (A7). */
#define NVRTC_THUNK_COUNT (FUNCTION_COUNT + 1)

extern const struct door_thunks nvrtc_thunks[NVRTC_THUNK_COUNT];

#endif

/* SPDX-License-Identifier: MIT */
/*
 * doors: before nvJitLink's functions (interpose/door/doors.h says what kinds there are)
 *
 * handle_X(door, the function's own parameters). A handle that we do not know is forwarded untouched; errno is as the
 * real function left it, or, where that was not called, as the host had it.
 *
 * Two kinds of input. What is only copied when it is added (CUBIN, LTO-IR) goes to the real handle at once. Where the
 * work is done while adding (PTX, and what may hold PTX), the call is a step of its own: answered from the cache where
 * it can be, and then the real handle owes it. What comes behind such a one is a step too, whatever it is: the real
 * handle may owe what is before it, and a key must not hang on whether it does. Completing is the last step.
 */
#ifndef INTERPOSE_NVJITLINK_DOORS_H
#define INTERPOSE_NVJITLINK_DOORS_H

#include "interpose/door/make.h"
#include "interpose/nvjitlink/functions.h"

#define HANDLER(name, since, gone, parameters, ...) int handle_##name(const struct door *door, DOOR_UNPACK parameters);
NVJITLINK_HANDLED(HANDLER)
#undef HANDLER

extern const struct door_thunks nvjitlink_thunks[NVJITLINK_FUNCTION_COUNT];

#endif

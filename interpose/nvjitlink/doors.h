/* SPDX-License-Identifier: MIT */
/*
 * doors: the handlers of nvJitLink's functions (interpose/door/doors.h lists the kinds of doors)
 *
 * handle_X(door, the function's own parameters). A call about an unknown handle is forwarded unchanged. errno is what
 * the real function left, or, if it was not called, what the host had.
 *
 * There are two kinds of input. An input that the library only copies (CUBIN, LTO-IR) is added to the real handle at
 * once. An input that is compiled while it is added (PTX, and types that may contain PTX) is a step: the call is
 * answered from the cache if possible, and is then a deferred call of the real handle. Every input after a step is a
 * step too, because the real handle may have deferred calls before it, and a key must not depend on whether it has.
 * nvJitLinkComplete is the last step.
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

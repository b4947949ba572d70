/* SPDX-License-Identifier: MIT */
/*
 * doors: the handlers of libNVVM's functions (interpose/door/doors.h lists the kinds; there are no exports, see
 * nodes.h)
 *
 * One handler per function of NVVM_HANDLED: handle_X(door, the function's own parameters). A call about an unknown
 * program is forwarded unchanged. errno is what the real function left, or, if it was not called, what the host had.
 */
#ifndef INTERPOSE_NVVM_DOORS_H
#define INTERPOSE_NVVM_DOORS_H

#include "interpose/door/make.h"
#include "interpose/nvvm/functions.h"

#define HANDLER(name, since, gone, parameters, ...) int handle_##name(const struct door *door, DOOR_UNPACK parameters);
NVVM_HANDLED(HANDLER)
#undef HANDLER

extern const struct door_thunks nvvm_thunks[FUNCTION_COUNT];

#endif

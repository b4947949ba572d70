/* SPDX-License-Identifier: MIT */
/*
 * doors: before libNVVM's functions (interpose/door/doors.h says what kinds there are; of exports it has none, nodes.h)
 *
 * One handler per function of NVVM_HANDLED: handle_X(door, the function's own parameters). A program that we do not know
 * is forwarded untouched. Every handler leaves errno as the real function left it, or, where that was not called, as the
 * host had it.
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

/* SPDX-License-Identifier: MIT */
/*
 * handlers: what each function of libNVVM does when it is called through a door of ours
 *
 * One handler per function of NVVM_HANDLED: handle_X(door, the function's own parameters). A program that we do not know
 * is forwarded untouched. Every handler leaves errno as the real function left it, or, where that was not called, as the
 * host had it.
 */
#ifndef INTERPOSE_NVVM_HANDLERS_H
#define INTERPOSE_NVVM_HANDLERS_H

#include "interpose/compile/library.h"
#include "interpose/door/make.h"
#include "interpose/nvvm/functions.h"

#define HANDLER(name, since, gone, parameters, ...) int handle_##name(const struct door *door, DOOR_UNPACK parameters);
NVVM_HANDLED(HANDLER)
#undef HANDLER

#endif

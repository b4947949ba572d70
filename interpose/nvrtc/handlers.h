/* SPDX-License-Identifier: MIT */
/*
 * handlers: what each function of NVRTC does when it is called through a door of ours
 *
 * One handler per function of NVRTC_HANDLED and NVRTC_PRIVATE: handle_X(door, the function's own parameters). A program
 * that we do not know is forwarded untouched. Every handler leaves errno as the real function left it, or, where that
 * was not called, as the host had it.
 */
#ifndef INTERPOSE_NVRTC_HANDLERS_H
#define INTERPOSE_NVRTC_HANDLERS_H

#include "interpose/compile/library.h"
#include "interpose/door/make.h"
#include "interpose/nvrtc/functions.h"
#include "interpose/nvrtc/types.h"

#define HANDLER(name, since, gone, parameters, ...) int handle_##name(const struct door *door, DOOR_UNPACK parameters);
NVRTC_HANDLED(HANDLER)
NVRTC_PRIVATE(HANDLER)
#undef HANDLER

#endif

/* SPDX-License-Identifier: MIT */
/*
 * handlers: what each function of npiece does when it is called through a door of ours
 *
 * handle_X(door, the function's own parameters). A handle that we do not know is forwarded untouched; errno is as the
 * real function left it, or, where that was not called, as the host had it.
 */
#ifndef TESTS_COMPILERS_NPIECE_HANDLERS_H
#define TESTS_COMPILERS_NPIECE_HANDLERS_H

#include "interpose/compile/library.h"
#include "interpose/door/make.h"
#include "tests/compilers/npiece/functions.h"

#define HANDLER(name, since, gone, parameters, ...) int handle_##name(const struct door *door, DOOR_UNPACK parameters);
NPIECE_HANDLED(HANDLER)
#undef HANDLER

#endif

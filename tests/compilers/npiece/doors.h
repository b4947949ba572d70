/* SPDX-License-Identifier: MIT */
/*
 * doors: before npiece's functions (interpose/door/doors.h says what kinds there are)
 *
 * handle_X(door, the function's own parameters). A handle that we do not know is forwarded untouched; errno is as the
 * real function left it, or, where that was not called, as the host had it.
 */
#ifndef TESTS_COMPILERS_NPIECE_DOORS_H
#define TESTS_COMPILERS_NPIECE_DOORS_H

#include "interpose/door/make.h"
#include "tests/compilers/npiece/functions.h"

#define HANDLER(name, since, gone, parameters, ...) int handle_##name(const struct door *door, DOOR_UNPACK parameters);
NPIECE_HANDLED(HANDLER)
#undef HANDLER

extern const struct door_thunks npiece_thunks[FUNCTION_COUNT];

#endif

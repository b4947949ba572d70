/* SPDX-License-Identifier: MIT */
/*
 * doors: before npiece's functions (interpose/door/doors.h says what kinds there are)
 */
#ifndef TESTS_COMPILERS_NPIECE_DOORS_H
#define TESTS_COMPILERS_NPIECE_DOORS_H

#include "interpose/door/doors.h"
#include "tests/compilers/npiece/functions.h"

extern const struct door_thunks npiece_thunks[FUNCTION_COUNT];

#endif

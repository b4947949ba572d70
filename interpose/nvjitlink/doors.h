/* SPDX-License-Identifier: MIT */
/*
 * doors: before nvJitLink's functions (interpose/door/doors.h says what kinds there are)
 */
#ifndef INTERPOSE_NVJITLINK_DOORS_H
#define INTERPOSE_NVJITLINK_DOORS_H

#include "interpose/door/doors.h"
#include "interpose/nvjitlink/functions.h"

extern const struct door_thunks nvjitlink_thunks[NVJITLINK_FUNCTION_COUNT];

#endif

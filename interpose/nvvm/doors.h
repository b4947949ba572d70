/* SPDX-License-Identifier: MIT */
/*
 * doors: before libNVVM's functions (interpose/door/doors.h says what kinds there are; of exports it has none, nodes.h)
 */
#ifndef INTERPOSE_NVVM_DOORS_H
#define INTERPOSE_NVVM_DOORS_H

#include "interpose/door/doors.h"
#include "interpose/nvvm/functions.h"

extern const struct door_thunks nvvm_thunks[FUNCTION_COUNT];

#endif

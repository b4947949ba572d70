/* SPDX-License-Identifier: MIT */
#include "interpose/nvvm/doors.h"

#define THUNK(name, ...) DOOR_THUNKS(name, __VA_ARGS__)
NVVM_HANDLED(THUNK)

const struct door_thunks nvvm_thunks[FUNCTION_COUNT] = {NVVM_HANDLED(DOOR_THUNK_ROW)};

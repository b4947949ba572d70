/* SPDX-License-Identifier: MIT */
#include "interpose/nvrtc/doors.h"

#include "interpose/nvrtc/nodes.h"

#define DOOR_NODE(id) &nvrtc_nodes[NVRTC_NODE_##id]

#define EXPORT(name, ...) NVRTC_NODES(DOOR_EXPORT, name, __VA_ARGS__)
NVRTC_HANDLED(EXPORT)
NVRTC_PRIVATE(EXPORT)

#define THUNK(name, ...) DOOR_THUNKS(name, __VA_ARGS__)
NVRTC_HANDLED(THUNK)
NVRTC_PRIVATE(THUNK)

const struct door_thunks nvrtc_thunks[NVRTC_THUNK_COUNT] = {NVRTC_HANDLED(DOOR_THUNK_ROW)
                                                                NVRTC_PRIVATE(DOOR_THUNK_ROW)};

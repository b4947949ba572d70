/* SPDX-License-Identifier: MIT */
#include "tests/compilers/npiece/doors.h"

#include "tests/compilers/npiece/nodes.h"

#define DOOR_NODE(id) &npiece_nodes[NPIECE_NODE_##id]

#define EXPORT(name, ...) NPIECE_NODES(DOOR_EXPORT, name, __VA_ARGS__)
NPIECE_HANDLED(EXPORT)

#define THUNK(name, ...) DOOR_THUNKS(name, __VA_ARGS__)
NPIECE_HANDLED(THUNK)

const struct door_thunks npiece_thunks[FUNCTION_COUNT] = {NPIECE_HANDLED(DOOR_THUNK_ROW)};

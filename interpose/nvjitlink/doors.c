/* SPDX-License-Identifier: MIT */
#include "interpose/nvjitlink/doors.h"

#include "interpose/nvjitlink/nodes.h"

#define DOOR_NODE(id) &nvjitlink_nodes[NVJITLINK_NODE_##id]

#define LINKED_EXPORT(which, prefix, suffix, version, id, floor, name, ...) \
	DOOR_EXPORT_AS(which, prefix #name suffix version, id, floor, name, __VA_ARGS__)
#define EXPORT(name, ...) NVJITLINK_LINKED(LINKED_EXPORT, name, __VA_ARGS__)
NVJITLINK_HANDLED(EXPORT)

#define THUNK(name, ...) DOOR_THUNKS(name, __VA_ARGS__)
NVJITLINK_HANDLED(THUNK)

const struct door_thunks nvjitlink_thunks[NVJITLINK_FUNCTION_COUNT] = {NVJITLINK_HANDLED(DOOR_THUNK_ROW)};

/* SPDX-License-Identifier: MIT */
/*
 * There is one handler per function of NVJITLINK_HANDLED: handle_X(door, the function's own parameters). The doors that
 * lead to the handlers are at the end. A call with an unknown handle is forwarded unchanged. errno is that of the real
 * function, or, if it was not called, that of the host.
 *
 * There are two kinds of input. An input that the library only copies (CUBIN, LTO-IR) is added to the real handle
 * immediately. An input that is compiled while it is added (PTX, and types that may contain PTX) is a step: the call is
 * answered from the cache if possible, and is then a deferred call of the real handle. Every input after a step is a
 * step too, because the real handle may have deferred calls before it, and a key must not depend on whether it has.
 * nvJitLinkComplete is the last step.
 */
#include "cache/replay.h"
#include "interpose/compile/compile.h"
#include "interpose/compile/host_call.h"
#include "interpose/compile/runtime.h"
#include "interpose/door/make.h"
#include "interpose/door/modules.h"
#include "interpose/nvjitlink/functions.h"
#include "interpose/nvjitlink/input.h"
#include "interpose/nvjitlink/link.h"
#include "interpose/nvjitlink/nodes.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>

static int handle_nvJitLinkCreate(struct door *door, nvjitlink_handle *handle, uint32_t option_count,
                                  const char **options)
{
	/* more than INT_MAX options count as unreadable */
	const struct call call = {.option_count = option_count <= INT_MAX ? (int)option_count : -1, .options = options};
	struct library *library;
	int result;

	modules_settle();
	result = HOST_CALL_NEW(nvJitLinkCreate, handle, option_count, options);
	library = result == NVJITLINK_SUCCESS ? host_call_made(door, *handle, NULL) : NULL;
	/* a handle whose options cannot be read gets no record */
	if (library && handle_call_sound(&call)) {
		link_add(*handle, library, door_reach(door), &call);
	} else if (library) {
		handle_free(handle_take(*handle));
	}
	return result;
}

static int handle_nvJitLinkDestroy(struct door *door, nvjitlink_handle *handle)
{
	return host_call_destroy(door, FUNCTION_nvJitLinkDestroy, handle ? *handle : NULL, handle);
}

static int forward_data(struct door *door, struct link *link, nvjitlink_handle handle, const struct link_input *input)
{
	if (REPLAY_FORBIDS() && !(link && link->handle.keyed)) {
		return NVJITLINK_INTERNAL;
	}
	if (link) {
		link_refresh_names(link);
	}
	return HOST_CALL(nvJitLinkAddData, link, handle, input->type, input->data, input->size, input->name);
}

static int make_step(struct link *link, int kind)
{
	const struct call call = {.kind = kind};
	int result;

	modules_settle();
	result = compile_call(&link->handle, &call);
	if (kind != LINK_COMPLETE) {
		link_stepped(link, kind);
	}
	return result;
}

/* Adds an input. `link` is the record of this handle, keyed or not. */
static int add_input(struct door *door, struct link *link, nvjitlink_handle handle, const struct link_input *input)
{
	enum link_way way = link_way(link, input);
	int kind = way == LINK_WAY_STEP ? link_step(link, input) : 0;
	int result;

	if (kind > 0) {
		return make_step(link, kind);
	}
	if (way != LINK_WAY_AT_ONCE) {
		link_settle(link, COUNTER_BYPASSED_arguments);
	}
	result = forward_data(door, link, handle, input);
	if (way == LINK_WAY_AT_ONCE) {
		link_record(link, input, result);
	}
	return result;
}

static int handle_nvJitLinkAddData(struct door *door, nvjitlink_handle handle, int type, const void *data, size_t size,
                                   const char *name)
{
	struct link *link = link_find(handle);
	const struct link_input input = {.type = type, .data = (void *)(uintptr_t)data, .size = size, .name = name};

	return link ? add_input(door, link, handle, &input) : forward_data(door, NULL, handle, &input);
}

/*
 * The library reads the file and adds its content under the name of the path. This handler reads the file once and adds
 * the bytes, so that the key describes the linked bytes even if the file changes. The library itself reads a file that
 * is empty or not regular.
 */
static int handle_nvJitLinkAddFile(struct door *door, nvjitlink_handle handle, int type, const char *path)
{
	struct link *link = link_find(handle);
	struct link_input input = {.type = type, .name = path};
	int result;

	if (link && link->handle.keyed && path && link_file_read(path, &input.data, &input.size) == 0) {
		result = add_input(door, link, handle, &input);
		free(input.data);
		return result;
	}
	if (link) {
		link_settle(link, COUNTER_BYPASSED_files);
		link_refresh_names(link);
	}
	return HOST_CALL(nvJitLinkAddFile, link, handle, type, path);
}

/*
 * Returns true if a look-up can save time. Without LTO-IR and steps a link takes a tenth of a millisecond, and a
 * look-up is no faster.
 */
static bool has_work(const struct link *link)
{
	return (link->options & LINK_OPTIONS_LTO) || link->handle.call_count > 0;
}

static int handle_nvJitLinkComplete(struct door *door, nvjitlink_handle handle)
{
	struct link *link = link_find(handle);
	int result;

	if (!link) {
		return host_call_unrecorded(door, FUNCTION_nvJitLinkComplete, handle, NULL);
	}
	if (REPLAY_FORBIDS() && !link->handle.keyed) {
		return NVJITLINK_INTERNAL;
	}
	if (!link->is_complete && (has_work(link) || !link->handle.keyed)) {
		result = make_step(link, LINK_COMPLETE);
		link->is_complete = true;
		return result;
	}
	link_settle(link, COUNTER_BYPASSED_history);
	link_refresh_names(link);
	link->is_complete = true;
	return HOST_CALL(nvJitLinkComplete, link, handle);
}

/* handle_nvJitLinkGetLinkedCubin(), handle_nvJitLinkGetLinkedCubinSize() and the other getters */
#define GETTERS(artifact, ...) \
	HOST_CALL_GETTERS(nvJitLinkGet##artifact, NVJITLINK_ARTIFACT_##artifact, nvjitlink_handle, void *)
NVJITLINK_ARTIFACTS(GETTERS, )

/* ---- the doors ---- */

NVJITLINK_HANDLED(DOOR_ENTRY)

#define DOOR_NODE(id) &nvjitlink_nodes[NVJITLINK_NODE_##id]

#define LINKED_EXPORT(which, prefix, suffix, version, id, floor, name, ...) \
	DOOR_EXPORT_AS(which, prefix #name suffix version, id, floor, name, __VA_ARGS__)
#define EXPORT(name, ...) NVJITLINK_LINKED(LINKED_EXPORT, name, __VA_ARGS__)
NVJITLINK_HANDLED(EXPORT)

NVJITLINK_HANDLED(DOOR_THUNKS)

const struct compiler_function nvjitlink_functions[NVJITLINK_FUNCTION_COUNT] = {NVJITLINK_HANDLED(DOOR_ROW)};

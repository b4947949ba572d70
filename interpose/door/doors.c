/* SPDX-License-Identifier: MIT */
#include "interpose/door/doors.h"

#include "interpose/compile/handle.h"
#include "interpose/compile/replay.h"
#include "interpose/nvrtc/handlers.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#define UNKNOWN_MAX        32 /* entries in dlsym_*.S */
#define UNKNOWN_ENTRY_SIZE 16

__attribute__((visibility("default"))) const char nvrtccache_library_version[] = "libnvrtccache 0.1.0";

/* __nvrtcCPEx: its parameters beyond the seventh are NVIDIA's; these are as many words as any known caller passes. */
typedef int extended_create(nvrtcProgram *program, const char *source, const char *name, int header_count,
                            const char *const *headers, const char *const *include_names, int extension_count,
                            uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d);

static int handle_CPEx(const struct door *door, nvrtcProgram *program, const char *source, const char *name,
                       int header_count, const char *const *headers, const char *const *include_names,
                       int extension_count, uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d)
{
	struct library *library = library_of_door(door);
	extended_create *real;
	int result;

	if (extension_count == 0) {
		return handle_nvrtcCreateProgram(door, program, source, name, header_count, headers, include_names);
	}
	real = library
	           ? (extended_create *)elf_symbol(&library->object, "__nvrtcCPEx", library_node_name(library->node))
	           : NULL;
	if (!real) {
		return RESULT_INTERNAL_ERROR;
	}
	result = real(program, source, name, header_count, headers, include_names, extension_count, a, b, c, d);
	handle_extensions(program, result);
	return result;
}

/* ---- exports: one per function and node, only where every release of the node has the function ---- */

#define EXPORT_NODE(id, soname, floor, name, since, gone, parameters, ...)                                           \
	int export_##name##_##id parameters;                                                                         \
	__attribute__((visibility("default"))) int export_##name##_##id parameters                                   \
	{                                                                                                            \
		const struct door door = {NULL, NODE_##id, __builtin_return_address(0)};                             \
                                                                                                                     \
		return handle_##name(&door, __VA_ARGS__);                                                            \
	}                                                                                                            \
	__asm__(".if " #since " <= " #floor "\n.if " #floor " < " #gone "\n.symver export_" #name "_" #id ", " #name \
	        "@" #soname "\n.endif\n.endif\n");
#define EXPORT_FUNCTION(name, since, gone, parameters, ...) \
	NVRTC_NODES(EXPORT_NODE, name, since, gone, parameters, __VA_ARGS__)
NVRTC_HANDLED(EXPORT_FUNCTION)

#define EXPORT_CPEX(id, soname, floor, ...)                                                                            \
	extended_create export_CPEx_##id;                                                                              \
	__attribute__((visibility("default"))) int export_CPEx_##id(                                                   \
	    nvrtcProgram *program, const char *source, const char *name, int header_count, const char *const *headers, \
	    const char *const *include_names, int extension_count, uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d) \
	{                                                                                                              \
		const struct door door = {NULL, NODE_##id, __builtin_return_address(0)};                               \
                                                                                                                       \
		return handle_CPEx(&door, program, source, name, header_count, headers, include_names,                 \
		                   extension_count, a, b, c, d);                                                       \
	}                                                                                                              \
	__asm__(".if " #floor " >= 1102\n.symver export_CPEx_" #id ", __nvrtcCPEx@" #soname "\n.endif\n");
NVRTC_NODES(EXPORT_CPEX, )

/* ---- thunks: one per function and library slot ---- */

#define SLOTS(X, ...)      \
	X(0, __VA_ARGS__)  \
	X(1, __VA_ARGS__)  \
	X(2, __VA_ARGS__)  \
	X(3, __VA_ARGS__)  \
	X(4, __VA_ARGS__)  \
	X(5, __VA_ARGS__)  \
	X(6, __VA_ARGS__)  \
	X(7, __VA_ARGS__)  \
	X(8, __VA_ARGS__)  \
	X(9, __VA_ARGS__)  \
	X(10, __VA_ARGS__) \
	X(11, __VA_ARGS__) \
	X(12, __VA_ARGS__) \
	X(13, __VA_ARGS__) \
	X(14, __VA_ARGS__) \
	X(15, __VA_ARGS__)

#define THUNK_SLOT(slot, name, parameters, ...)                                     \
	static int thunk_##name##_##slot parameters                                 \
	{                                                                           \
		const struct door door = {library_in_slot(slot), NODE_COUNT, NULL}; \
                                                                                    \
		return handle_##name(&door, __VA_ARGS__);                           \
	}
#define THUNK_FUNCTION(name, since, gone, parameters, ...) SLOTS(THUNK_SLOT, name, parameters, __VA_ARGS__)
NVRTC_HANDLED(THUNK_FUNCTION)

#define THUNK_CPEX(slot, ...)                                                                                       \
	static int thunk_CPEx_##slot(nvrtcProgram *program, const char *source, const char *name, int header_count, \
	                             const char *const *headers, const char *const *include_names,                  \
	                             int extension_count, uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d)       \
	{                                                                                                           \
		const struct door door = {library_in_slot(slot), NODE_COUNT, NULL};                                 \
                                                                                                                    \
		return handle_CPEx(&door, program, source, name, header_count, headers, include_names,              \
		                   extension_count, a, b, c, d);                                                    \
	}
SLOTS(THUNK_CPEX, )

#define THUNK_ENTRY(slot, name) (real_function *)thunk_##name##_##slot,
#define THUNK_ROW(name, ...)    {#name, {SLOTS(THUNK_ENTRY, name)}},

static const struct {
	const char *name;
	real_function *thunks[LIBRARIES_MAX];
} thunks[] = {NVRTC_HANDLED(THUNK_ROW){"__nvrtcCPEx", {SLOTS(THUNK_ENTRY, CPEx)}}};

#define THUNK_COUNT (sizeof(thunks) / sizeof(thunks[0]))

/* ---- functions that we do not know ---- */

extern char unknown_entries[];
void *unknown_prepare(unsigned index, const uintptr_t arguments[6]);

static _Atomic(void *) unknown[UNKNOWN_MAX];

/* Called by the door of an unknown function: a program among its arguments is compiled for real first (A6). */
void *unknown_prepare(unsigned index, const uintptr_t arguments[6])
{
	int host_errno = errno;

	for (int i = 0; i < 6; i++) {
		struct program *program = arguments[i] ? program_find((nvrtcProgram)arguments[i]) : NULL;

		if (program && program->served) {
			replay_all(program);
		}
		if (program) {
			program->keyed = false;
			program->reason = COUNTER_BYPASSED_history;
		}
	}
	errno = host_errno;
	return atomic_load_explicit(&unknown[index], memory_order_acquire);
}

static void *unknown_door(void *address)
{
	for (unsigned i = 0; i < UNKNOWN_MAX; i++) {
		void *there = NULL;

		if (atomic_compare_exchange_strong(&unknown[i], &there, address) || there == address) {
			return unknown_entries + (size_t)i * UNKNOWN_ENTRY_SIZE;
		}
	}
	return address;
}

void *doors_for_symbol(const char *name, void *address)
{
	struct library *library = library_at((uintptr_t)address);

	if (!library) {
		return address;
	}
	for (size_t i = 0; i < THUNK_COUNT; i++) {
		if (strcmp(name, thunks[i].name) == 0) {
			return (void *)thunks[i].thunks[library->slot];
		}
	}
	return unknown_door(address);
}

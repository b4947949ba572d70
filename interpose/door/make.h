/* SPDX-License-Identifier: MIT */
/*
 * make: macros that define a compiler's doors from its lists (interpose/door/doors.h lists the kinds)
 *
 * A row of functions is X(name, since, gone, (parameters), arguments...); every function returns int, and its handler
 * is handle_name(door, ...). A row of nodes is X(id, soname, floor, ...). The file that includes this one defines
 * DOOR_NODE(id) as the node's address. In a compiler's handlers.c:
 *
 *     FUNCTIONS(DOOR_ENTRY)                                              calls handle_name()
 *     #define EXPORT(name, ...) NODES(DOOR_EXPORT, name, __VA_ARGS__)    exports export_name_id as name@soname
 *     FUNCTIONS(EXPORT)
 *     FUNCTIONS(DOOR_THUNKS)                                             one per slot
 *     const struct compiler_function functions[] = {FUNCTIONS(DOOR_ROW)};
 */
#ifndef INTERPOSE_DOOR_MAKE_H
#define INTERPOSE_DOOR_MAKE_H

#include "interpose/compile/library.h"
#include "interpose/door/doors.h"

#include <errno.h>

/* Removes the parentheses: (a, b, c) becomes a, b, c. */
#define DOOR_UNPACK(...) __VA_ARGS__

/* What all doors of a function lead to: its handler, between which and the host errno is kept. */
#define DOOR_ENTRY(name, since, gone, parameters, ...)                                               \
	__attribute__((noinline)) static int enter_##name(struct door *door, DOOR_UNPACK parameters) \
	{                                                                                            \
		int result;                                                                          \
                                                                                                     \
		door->host_errno = errno;                                                            \
		result = handle_##name(door, __VA_ARGS__);                                           \
		errno = door->host_errno;                                                            \
		return result;                                                                       \
	}

/*
 * The export exists only if every release of the node has the function. Otherwise a weak reference would find a
 * function that the library lacks.
 */
#define DOOR_EXPORT(id, soname, floor, name, since, gone, parameters, ...) \
	DOOR_EXPORT_AS(id, #name "@" #soname, id, floor, name, since, gone, parameters, __VA_ARGS__)

/*
 * Defines an export under another name: `which` distinguishes the exports of a function, `symbol` is the name that
 * hosts are linked with.
 */
#define DOOR_EXPORT_AS(which, symbol, id, floor, name, since, gone, parameters, ...)                         \
	int export_##name##_##which parameters;                                                              \
	__attribute__((visibility("default"))) int export_##name##_##which parameters                        \
	{                                                                                                    \
		struct door door = {NULL, DOOR_NODE(id), __builtin_return_address(0), 0};                    \
                                                                                                             \
		return enter_##name(&door, __VA_ARGS__);                                                     \
	}                                                                                                    \
	__asm__(".if " #since " <= " #floor "\n.if " #floor " < " #gone "\n.symver export_" #name "_" #which \
	        ", " symbol "\n.endif\n.endif\n");

#define DOOR_SLOTS(X, ...) \
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

_Static_assert(LIBRARIES_MAX == 16, "a thunk for each slot");

#define DOOR_THUNK(slot, name, parameters, ...)          \
	static int thunk_##name##_##slot parameters      \
	{                                                \
		struct door door;                        \
                                                         \
		door.library = library_in_slot(slot);    \
		door.node = NULL;                        \
		return enter_##name(&door, __VA_ARGS__); \
	}
#define DOOR_THUNK_ENTRY(slot, name) (real_function *)thunk_##name##_##slot,
#define DOOR_THUNKS(name, since, gone, parameters, ...)       \
	DOOR_SLOTS(DOOR_THUNK, name, parameters, __VA_ARGS__) \
	static real_function *const thunks_of_##name[] = {DOOR_SLOTS(DOOR_THUNK_ENTRY, name)};

#define DOOR_ROW(name, since, gone, ...) [FUNCTION_##name] = {#name, since, gone, thunks_of_##name},

#endif

/* SPDX-License-Identifier: MIT */
/*
 * make: macros that define a compiler's doors from its lists (interpose/door/doors.h lists the kinds)
 *
 * A row of functions is X(name, since, gone, (parameters), arguments...); every function returns int, and its handler
 * is handle_name(door, ...). A row of nodes is X(id, soname, floor, ...). The file that includes this one defines
 * DOOR_NODE(id) as the node's address. In a compiler's handlers.c:
 *
 *     FUNCTIONS(DOOR_ENTRY)                                              enter_name() calls handle_name()
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
#include <stddef.h>

/* Tells which door the thread takes. */
static inline struct door door_taken(void)
{
	struct door door = {.host_errno = errno};

	if (door_way.slot >= 0) {
		door.library = library_in_slot(door_way.slot);
	} else {
		door.node = door_way.node;
		door.caller = door_way.caller;
	}
	return door;
}

/* What all doors of a function lead to: its handler, between which and the host errno is kept. */
#define DOOR_ENTRY(name, since, gone, parameters, ...)                     \
	__attribute__((noinline, used)) static int enter_##name parameters \
	{                                                                  \
		struct door door = door_taken();                           \
		int result = handle_##name(&door, __VA_ARGS__);            \
                                                                           \
		errno = door.host_errno;                                   \
		return result;                                             \
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
		door_way.slot = -1;                                                                          \
		door_way.node = DOOR_NODE(id);                                                               \
		door_way.caller = __builtin_return_address(0);                                               \
		return enter_##name(__VA_ARGS__);                                                            \
	}                                                                                                    \
	__asm__(".if " #since " <= " #floor "\n.if " #floor " < " #gone "\n.symver export_" #name "_" #which \
	        ", " symbol "\n.endif\n.endif\n");

/*
 * thunks_of_name: an entry for each slot. As C functions, these would make the library a quarter larger. In C, with all
 * arguments unchanged:
 *
 *	door_way.slot = slot;
 *	goto *enter_name;
 */
#if defined(__x86_64__)
#define DOOR_THUNK      ".byte 0xf3, 0x0f, 0x1e, 0xfa\n movl $.Lslot, %r11d\n jmp 1f\n" /* the bytes are endbr64 */
#define DOOR_THUNK_REST "movq door_way@gottpoff(%rip), %r10\n movl %r11d, %fs:(%r10)\n jmp "
#else
#define DOOR_THUNK "hint #34\n mov w16, #.Lslot\n b 1f\n" /* the hint is bti c */
#define DOOR_THUNK_REST                                                             \
	"adrp x17, :gottprel:door_way\n ldr x17, [x17, #:gottprel_lo12:door_way]\n" \
	"mrs x9, tpidr_el0\n str w16, [x9, x17]\n b "
#endif

_Static_assert(LIBRARIES_MAX == 16 && DOOR_THUNK_BYTES == 16 && offsetof(struct door_way, slot) == 0, "as assembled");

#define DOOR_THUNKS(name, since, gone, parameters, ...)                                    \
	extern const char thunks_of_##name[] __attribute__((visibility("hidden")));        \
	__asm__(".pushsection .text.thunks_of_" #name ",\"ax\",%progbits\n"                \
	        ".type thunks_of_" #name ", %function\n.balign 16\nthunks_of_" #name ":\n" \
	        ".cfi_startproc\n.set .Lslot, 0\n.rept 16\n.balign 16\n" DOOR_THUNK        \
	        ".set .Lslot, .Lslot + 1\n.endr\n1: " DOOR_THUNK_REST "enter_" #name       \
	        "\n.cfi_endproc\n.size thunks_of_" #name ", . - thunks_of_" #name "\n.popsection");

#define DOOR_ROW(name, since, gone, ...) [FUNCTION_##name] = {#name, since, gone, thunks_of_##name},

#endif

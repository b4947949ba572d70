/* SPDX-License-Identifier: MIT */
/*
 * Doors for unknown functions are numbered assembly entries in doors.S, which preserve every register. Before the
 * real function runs, the deferred calls of each known handle among its arguments are performed, and the handle's later
 * calls bypass the cache, because the function may read or change the handle.
 */
#include "interpose/door/doors.h"

#include "cache/version.h"
#include "interpose/compile/handle.h"
#include "interpose/compile/host_call.h"
#include "interpose/compile/library_steps.h"
#include "interpose/compile/log.h"
#include "interpose/compile/replay.h"
#include "interpose/elf/plain.h"

#include <stdatomic.h>
#include <string.h>

#define DOOR_ENTRY_SIZE 16

_Static_assert(DOORS_UNKNOWN_MAX == 32 && DOOR_ENTRY_SIZE == 16, "doors.S and dlsym.S have these numbers");

__attribute__((visibility("default"))) const char ELF_COPY_MARKER[] = "libnvrtccache " NVRTCCACHE_VERSION;

extern char door_entries[];

static _Atomic(void *) unknown[DOORS_UNKNOWN_MAX];

void *doors_prepare_unknown(unsigned index, const uintptr_t arguments[6])
{
	for (int i = 0; i < 6; i++) {
		struct handle *handle = arguments[i] ? handle_find((void *)arguments[i]) : NULL;

		if (handle) {
			(void)replay_all(handle);
			handle_unkey(handle, COUNTER_BYPASSED_history);
		}
	}
	return atomic_load_explicit(&unknown[index], memory_order_acquire);
}

/*
 * Returns the door of an unknown function; NULL if all are in use. Doors are never reused, because a host may store the
 * pointer.
 */
static void *unknown_door(void *address)
{
	for (unsigned i = 0; i < DOORS_UNKNOWN_MAX; i++) {
		void *there = NULL;

		if (atomic_compare_exchange_strong(&unknown[i], &there, address) || there == address) {
			return door_entries + (size_t)i * DOOR_ENTRY_SIZE;
		}
	}
	return NULL;
}

static bool opens_handles(const struct compiler *compiler, const char *name)
{
	return compiler->opens && plain_begins(name, compiler->opens);
}

void *doors_of_library(struct library *library, const char *name, void *address)
{
	const struct compiler *compiler = library->compiler;

	if (opens_handles(compiler, name)) {
		return NULL;
	}
	for (size_t i = 0; i < compiler->function_count; i++) {
		if (node_names(name, compiler->functions[i].name)) {
			return (void *)compiler->functions[i].thunks[library->slot];
		}
	}
	return unknown_door(address);
}

void *doors_for_symbol(const char *name, void *address)
{
	struct library *library = library_at((uintptr_t)address);
	void *door;

	if (!library) {
		return address;
	}
	log_note_stderr();
	door = doors_of_library(library, name, address);
	if (!door && opens_handles(library->compiler, name)) {
		library_give_up(library, COUNTER_BYPASSED_private_functions,
		                "the program looked up a private function of it");
		/*
		 * Setting up the runtime and writing an event is allowed here, because only a host that is about to
		 * compile looks this name up.
		 */
		host_call_private(library, name);
	}
	return door ? door : address;
}

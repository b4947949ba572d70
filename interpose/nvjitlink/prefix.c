/* SPDX-License-Identifier: MIT */
/*
 * The states are bits in the library's `told`. nvJitLink does not reveal them, so the code tracks which real calls set
 * them. A scratch link of a minimal kernel sets those that a hit skipped.
 */
#include "interpose/nvjitlink/prefix.h"

#include "interpose/compiler.h"
#include "interpose/nvjitlink/functions.h"

#include <pthread.h>

/* From this release on, the option -no-cache prevents nvJitLinkCreate from initialising a driver. */
#define NO_CACHE_SINCE 1205

void prefix_skip(struct library *library, enum prefix_states states)
{
	const uint32_t set = atomic_load(&library->told) >> PREFIX_SHIFT;

	(void)atomic_fetch_or(&library->told, states & ~set);
}

void prefix_set(struct library *library, enum prefix_states states)
{
	const uint32_t set = (uint32_t)states << PREFIX_SHIFT;

	if ((atomic_load(&library->told) & (set | states)) != set) {
		(void)atomic_fetch_or(&library->told, set);
		(void)atomic_fetch_and(&library->told, ~(uint32_t)states);
	}
}

/* Adds a text that every release since 12.0 accepts; all of them know sm_90. */
static int add_text(struct library *library, nvjitlink_handle handle)
{
	static const char text[] = ".version 7.8\n.target sm_90\n.address_size 64\n.visible .entry k()\n{\nret;\n}\n";

	return LIBRARY_REAL(library, nvJitLinkAddData)(handle, NVJITLINK_PTX, text, sizeof(text), "k");
}

static void link_scratch(struct library *library, enum prefix_states states)
{
	const char *options[] = {"-arch=sm_90", "-no-cache"};
	const uint32_t count = library->major * 100 + library->minor >= NO_CACHE_SINCE ? 2 : 1;
	nvjitlink_handle handle = NULL;

	if (LIBRARY_REAL(library, nvJitLinkCreate)(&handle, count, options) == NVJITLINK_SUCCESS) {
		if (states & PREFIX_ERROR) {
			(void)add_text(library, handle);
		}
		if (states & PREFIX_FATAL) {
			(void)LIBRARY_REAL(library, nvJitLinkComplete)(handle);
		}
	}
	if (handle) {
		(void)LIBRARY_REAL(library, nvJitLinkDestroy)(&handle);
	}
}

void prefix_settle(struct library *library, enum prefix_states states)
{
	const enum prefix_states skipped = states & atomic_load(&library->told);
	int state;

	if (skipped == PREFIX_NONE) {
		return;
	}
	/*
	 * The states are recorded first, so that a signal handler that jumps out of the scratch link does not cause a
	 * second one.
	 */
	prefix_set(library, skipped);
	(void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	link_scratch(library, skipped);
	(void)pthread_setcancelstate(state, NULL);
}

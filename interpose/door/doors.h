/* SPDX-License-Identifier: MIT */
/*
 * doors: the functions that a host really calls (docs/DESIGN.md A, "How calls reach us")
 *
 *     export   nvrtcX@libnvrtc.so.13: hidden versioned, one per function and node; for linked programs and modules
 *     thunk    one per function and library slot; what dlsym gives out
 *     unknown  dlsym of a compiler's function that we do not know: an assembly door that keeps every register
 *
 * Exports and thunks are made by each compiler's folder, with door/make.h.
 *
 * A door knows which library a call is for: an export by its node (and, among several libraries of one node, by its
 * caller's scope), a thunk by its slot. Every call about a handle that we know goes by that handle's library.
 *
 * Threads: any. Fork, signals: no state but the table of unknown functions, which only grows.
 */
#ifndef INTERPOSE_DOOR_DOORS_H
#define INTERPOSE_DOOR_DOORS_H

#include "interpose/compile/library.h"

/* What dlsym gives out for a function, by library slot. */
struct door_thunks {
	const char *name;
	real_function *of_slot[LIBRARIES_MAX];
};

/* The door for a function that the real dlsym found at `address`; `address` itself where none is needed or to be had.
 */
void *doors_for_symbol(const char *name, void *address);

#endif

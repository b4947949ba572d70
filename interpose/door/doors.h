/* SPDX-License-Identifier: MIT */
/*
 * doors: the functions that a host really calls (docs/DESIGN.md A, "How calls reach us")
 *
 *     export   nvrtcX@libnvrtc.so.13: hidden versioned, one per function and node; for linked programs and modules
 *     thunk    one per function and library slot; what dlsym gives out
 *     unknown  dlsym of an nvrtc* function that we do not know: an assembly door that keeps every register
 *     __nvrtcCPEx  nvrtcCreateProgram with extensions: ours without extensions, passed through with them (A7)
 *
 * A door knows which library a call is for: an export by its node (and, among several libraries of one node, by its
 * caller's scope), a thunk by its slot. Every call about a program that we know goes by that program's library.
 *
 * Threads: any. Fork, signals: no state but the table of unknown functions, which only grows.
 */
#ifndef INTERPOSE_DOOR_DOORS_H
#define INTERPOSE_DOOR_DOORS_H

/* The door for a function that the real dlsym found at `address`; `address` itself where none is needed or to be had.
 */
void *doors_for_symbol(const char *name, void *address);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * doors: the functions that a host calls in place of a compiler's (docs/DESIGN.md, "How calls reach us")
 *
 *     export   nvrtcX@libnvrtc.so.13: hidden versioned, one per function and node; for linked programs and modules
 *     thunk    one per function and library slot; returned by dlsym
 *     unknown  returned by dlsym for an unlisted function of a compiler: an assembly door that preserves all registers
 *
 * Each compiler's folder defines its exports and thunks with door/make.h.
 *
 * A door determines the library of a call: an export by its node (and by its caller's scope, if several libraries have
 * that node), a thunk by its slot. A call with a known handle goes to that handle's library.
 *
 * Threads: any. Fork, signals: no state except the table of unknown functions, which only grows.
 */
#ifndef INTERPOSE_DOOR_DOORS_H
#define INTERPOSE_DOOR_DOORS_H

#include "interpose/compile/library.h"

/*
 * Returns the door for a function that the real dlsym found at `address`. Returns `address` itself if the function
 * needs no door, or if no door is free.
 */
void *doors_for_symbol(const char *name, void *address);
/*
 * Returns the door for that function of the library; NULL if there is none: the function is private (`opens` of struct
 * compiler), or no door is free.
 */
void *doors_of_library(struct library *library, const char *name, void *address);

#define DOORS_UNKNOWN_MAX 32 /* entries in doors.S */
/* Performs the deferred calls of every handle among the arguments of that unknown function; returns the function. */
void *doors_prepare_unknown(unsigned index, const uintptr_t arguments[6]);

#endif

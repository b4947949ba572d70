/* SPDX-License-Identifier: MIT */
/*
 * excursion: from our code into the compiler's or the host's, with the host's thread as it was, and perhaps not back
 *
 * Purpose: while the real compiler works, or a callback of the host's is asked, the thread is the host's own again: it
 * can be cancelled there, and then what was in our hands is given back on the way out.
 *
 * Calling sequence: fill in what is held, excursion_to_compiler() or excursion_to_callback(), read `result`.
 * Threads: the calling one. Fork, signals: whatever compiler and host do. Errors: none of its own.
 * Ownership: the attempt and the entry stay the caller's, unless the thread ends on the way.
 */
#ifndef INTERPOSE_COMPILE_EXCURSION_H
#define INTERPOSE_COMPILE_EXCURSION_H

#include "cache/entry.h"
#include "interpose/compile/attempt.h"
#include "interpose/compile/handle.h"

struct excursion {
	const struct handle *handle;
	const struct call *call; /* of a real compile */
	struct attempt *attempt;
	struct entry *entry; /* or NULL */
	int result;
};

void excursion_to_compiler(struct excursion *excursion);
/* Does the host want to stop? It must find its thread as in the real compile. */
void excursion_to_callback(struct excursion *excursion);

#endif

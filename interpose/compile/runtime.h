/* SPDX-License-Identifier: MIT */
/*
 * runtime: what this process has of the cache: settings, store, memory front, log, counters
 *
 *     untouched --first handle that a compiler makes--> set up (or off: reason)
 *
 * Purpose: everything is set up by the first handle that a compiler makes, and by nothing earlier: a process that never
 * touches a compiler has read no environment, opened no file and taken no memory (A4).
 *
 * Calling sequence: runtime_get() anywhere; its fields are constant once it is there.
 * Threads: the first caller sets up, others wait for it (no call into the loader happens inside).
 * Fork: a handler is registered in the set-up that makes the locks new in the child. None runs before the fork: it
 * would hold what a handler of the host waits for (cache/fork_mutex.h). Signals: not from handlers. Errors: what cannot
 * be had is NULL and `off` says why. Exit: counts that are not yet written are written by a destructor that frees
 * nothing.
 */
#ifndef INTERPOSE_COMPILE_RUNTIME_H
#define INTERPOSE_COMPILE_RUNTIME_H

#include "cache/counters.h"
#include "cache/memory.h"
#include "cache/settings.h"
#include "cache/store.h"
#include "keygen/digest.h"

#include <stdbool.h>
#include <stdint.h>

struct runtime {
	struct settings settings;
	struct store *store;
	struct store **lower; /* read-only caches below it, in order (C6) */
	int lower_count;
	struct secret secret;  /* of fingerprints */
	struct memory *memory; /* NULL: it could not be had, or there is no secret */
	bool off;
	enum counter off_reason;
};

const struct runtime *runtime_get(void);
void runtime_count(enum counter counter, uint64_t amount);
/* One of COUNTERS_OF_EACH, and the compiler's share of it. */
void runtime_count_share(enum counter_group of, enum counter counter, uint64_t amount);
/* The counter for an error (negative errno) of the layers below. */
enum counter runtime_error_counter(int error, enum counter otherwise);
/* Writes the counts out if it is time. errno is kept. */
void runtime_flush(void);
/* What the user allows a result to be (NVRTCCACHE_SLOPPINESS). */
enum sloppiness { SLOPPINESS_NONE, SLOPPINESS_TIME_MACROS };
enum sloppiness runtime_sloppiness(void);
int64_t runtime_clock(void); /* CLOCK_MONOTONIC, nanoseconds */

/*
 * secret: what this process alone knows, for its fingerprints (keygen/digest.h)
 *
 * The kernel is asked for it by a raw system call: libc has had getrandom only since 2.25, and hosts may stand before
 * it. Where that is refused, or would have to wait (early at boot), it is made of the 16 random bytes that every
 * program was started with. A child that was forked shares its parent's, as it shares what the parent remembers.
 *
 * Calling sequence: secret_make() once. Errors: -ENOSYS where there is neither: then nothing may be looked up by
 * fingerprint (the secret is a published one). errno is not kept.
 */

int secret_make(struct secret *ret_secret);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * runtime: the cache of this process: settings, store, memory front, log, counters
 *
 *     untouched --first handle that a compiler makes--> set up (or off: reason)
 *
 * Purpose: the first handle of a compiler sets everything up, and nothing is set up earlier: a process that never calls
 * a compiler reads no environment, opens no file and allocates no memory.
 *
 * Calling sequence: runtime_get() anywhere; its fields are constant afterwards. Threads: the first caller sets up, the
 * others wait for it (the set-up makes no call into the loader). Fork: the set-up registers handlers. The one before
 * the fork takes no lock, because a handler of the host may wait then (cache/fork_mutex.h); the child resets the locks.
 * Signals: not from handlers. Errors: a part that could not be set up is NULL; if the cache is off, `off_reason` says
 * why. Exit: a handler records the remaining counts, and frees nothing.
 */
#ifndef INTERPOSE_COMPILE_RUNTIME_H
#define INTERPOSE_COMPILE_RUNTIME_H

#include "cache/agent_client.h"
#include "cache/counters.h"
#include "cache/events.h"
#include "cache/memory.h"
#include "cache/settings.h"
#include "cache/store.h"
#include "keygen/digest.h"

#include <stdbool.h>
#include <stdint.h>

struct runtime {
	struct settings settings;
	struct directory directory;
	struct agent_options agent; /* `said` NULL: there is no agent, or no store */
	struct store *store;        /* NULL: there is no directory */
	struct store *lower;        /* read-only caches, searched after the store, in order */
	int lower_count;
	struct secret secret;    /* for fingerprints */
	struct memory *memory;   /* NULL: there is no secret */
	enum counter off_reason; /* why the cache is off; COUNTER_NONE: it is on */
};

const struct runtime *runtime_get(void);
/* Returns the counter for an error (negative errno) of the layers below. */
enum counter runtime_error_counter(int error, enum counter otherwise);
int64_t runtime_clock(void); /* CLOCK_MONOTONIC, nanoseconds */

#endif

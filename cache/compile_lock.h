/* SPDX-License-Identifier: MIT */
/*
 * compile_lock: one compile of a key at a time, not N (docs/DESIGN.md D)
 *
 *     new --seat taken--> seated --the file's lock taken, or not to be had--> settled: look, compile, release
 *      |                    |  `-- another process released it --> look; missed: seated again, or settled
 *      |                    `-- what that process made was not kept --> settled, without a seat
 *      `-- another thread released it, or waited long enough --> settled, without a seat
 *
 * Purpose: threads of one process that miss on a key wait for the one that has its compile lock (a seat in a table),
 * and that one waits for other processes (cache/compile_lock_file.h). Whoever waited looks again. Nobody depends on it: when the lock cannot be had, or took too long, one compiles.
 *
 * Results that are not kept (too new, side effects, ...) would have everybody wait for nothing, one after the other. So
 * nobody waits for a second holder of a key's lock once the first gave nothing: those who waited go on side by side,
 * and for a minute nobody waits for that key, in the process and by the file. Nor in the process where a result that
 * was kept does not serve one who waited for it (other headers under the same names). Only after a holder that released
 * the lock without saying how it went (it died or was cancelled) does one of those who wait take over while the others
 * wait on.
 *
 * Calling sequence, per compile, with a zeroed struct compile_lock:
 *     do { look up; } while (missed && compile_lock_acquire(lock, options, key));
 *     compile if still missed; compile_lock_release(lock, outcome)
 * compile_lock_release() of a lock that is not held does nothing.
 * Waiting ends after `wait_seconds` in all; and what a process waited for others in vain counts for its next waits too,
 * until one of them was worth it: nobody can hold a process up for longer, however many keys it compiles. A thread that
 * holds a compile lock never waits for another (a compile inside a compile).
 *
 * Errors: none; see compile_lock_file.h for when processes are not waited for. Threads: any; mutexes are held for a few
 * loads and stores. Signals: not from handlers. errno is not preserved. Cancellation: off, or the waits must not be
 * cut. Fork: compile_lock_fork_child() from an atfork handler. A child holds no compile locks: it closes its copies of
 * the descriptors and leaves the locks to the parent; to release one of the parent's does nothing.
 */
#ifndef CACHE_COMPILE_LOCK_H
#define CACHE_COMPILE_LOCK_H

#include "cache/entry.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct compile_lock_options {
	const char *directory; /* NULL: threads only */
	bool shared;
	bool read_only;        /* what is made here reaches no other process: threads only */
	unsigned wait_seconds; /* 0: none is taken */
};

struct seat;

struct compile_lock {
	struct seat *seat; /* NULL: none held */
	pid_t owner;       /* of the seat */
	uint8_t key[ENTRY_KEY_BYTES];
	int64_t deadline;
	enum { COMPILE_LOCK_NEW, COMPILE_LOCK_SEATED, COMPILE_LOCK_SETTLED } state;
	int rounds;
	bool hopeful;  /* waited for a result that was kept */
	bool waited;   /* for another thread or process */
	int64_t spent; /* nanoseconds, waiting for another process, which has kept what it made; else 0 */
};

enum compile_lock_outcome {
	COMPILE_LOCK_ABANDONED, /* no answer: somebody else may try */
	COMPILE_LOCK_NOT_KEPT,
	COMPILE_LOCK_KEPT_HERE, /* this process has it, the store does not */
	COMPILE_LOCK_KEPT
};

/* After a miss. True: look again, and when that misses too, call once more. False: compile now. */
bool compile_lock_acquire(struct compile_lock *lock, const struct compile_lock_options *options,
                          const uint8_t key[ENTRY_KEY_BYTES]);
void compile_lock_release(struct compile_lock *lock, enum compile_lock_outcome outcome);

void compile_lock_fork_child(void);

#endif

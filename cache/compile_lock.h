/* SPDX-License-Identifier: MIT */
/*
 * compile_lock: one compilation of a key at a time, among threads and processes (docs/DESIGN.md D)
 *
 *     new --seat taken--> seated --file lock taken, or not available--> settled: look again, compile, release
 *      |                    |  `-- another process released it --> look again; missed: seated again, or settled
 *      |                    `-- that process could not store its result --> settled, without a seat
 *      `-- another thread released it, or the wait took too long --> settled, without a seat
 *
 * Purpose: threads of one process that miss on a key wait for the one that holds its compile lock (a seat in a table);
 * that thread waits for other processes (cache/compile_lock_file.h). After a wait the caller looks again. A lock that
 * cannot be had, or that takes too long, only means that the caller compiles.
 *
 * Results that are not cached would make all callers wait for nothing, one after the other. So after a holder whose
 * result was not cached, its waiters compile side by side, and for a minute nobody waits for that key. The same holds,
 * within the process, if a cached result does not serve the thread that waited for it (other headers under the same
 * names). If a holder released the lock without an outcome, because it died or was cancelled, one waiter takes over and
 * the others keep waiting.
 *
 * Calling sequence, for each compilation, with a zeroed struct compile_lock:
 *     do { look up; } while (missed && compile_lock_acquire(lock, options, key));
 *     compile if still missed; compile_lock_release(lock, outcome)
 * compile_lock_release() of a lock that is not held does nothing. All waits of one compilation take at most
 * `wait_seconds`. The time that a process waited for other processes in vain is subtracted from its next waits, until
 * one of them brings a result: so no holder delays a process for longer, however many keys it compiles. A thread that
 * holds a compile lock never waits for another one (a compilation inside a compilation).
 *
 * Errors: none; compile_lock_file.h says when other processes are not waited for. Threads: any; mutexes are held for a
 * few loads and stores. Signals: not from handlers. errno is not preserved. Cancellation: must be off.
 * Fork: compile_lock_fork_child() from an atfork handler. A child holds no compile locks: it closes its copies of the
 * descriptors, and releasing a lock of the parent does nothing.
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
	bool read_only;        /* results of this process reach no other one: threads only */
	unsigned wait_seconds; /* 0: no lock is taken */
};

struct seat;

struct compile_lock {
	struct seat *seat; /* NULL: none held */
	pid_t owner;       /* the process that took the seat */
	uint8_t key[ENTRY_KEY_BYTES];
	int64_t deadline;
	enum { COMPILE_LOCK_NEW, COMPILE_LOCK_SEATED, COMPILE_LOCK_SETTLED } state;
	int rounds;
	bool hopeful;  /* waited for a result that was cached */
	bool waited;   /* for another thread or process */
	int64_t spent; /* ns spent waiting for another process that cached its result; else 0 */
};

enum compile_lock_outcome {
	COMPILE_LOCK_ABANDONED, /* no outcome: a waiter may try */
	COMPILE_LOCK_NOT_KEPT,
	COMPILE_LOCK_KEPT_HERE, /* in memory only, not in the store */
	COMPILE_LOCK_KEPT
};

/* Call after a miss. True: look again, and after another miss call once more. False: compile now. */
bool compile_lock_acquire(struct compile_lock *lock, const struct compile_lock_options *options,
                          const uint8_t key[ENTRY_KEY_BYTES]);
void compile_lock_release(struct compile_lock *lock, enum compile_lock_outcome outcome);

void compile_lock_fork_child(void);

#endif

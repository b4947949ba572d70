/* SPDX-License-Identifier: MIT */
/*
 * compile_lock: one compilation of a key at a time, among threads and processes (docs/DESIGN.md D)
 *
 *     NEW --place taken, file lock taken or not available--> HELD: look up again, compile, release
 *      |        `-- another process released the file lock --> QUEUED: look up again; missed: tries again, or HELD
 *      |-- another thread cached a result --> AWAITED: look up again; missed: compile
 *      `-- the result is not cached, or the wait took too long --> UNLOCKED: compile
 *
 * Purpose: threads of one process that miss on a key wait for the thread that holds the key's compile lock (a place in
 * a table); that thread waits for other processes (cache/compile_lock_file.h). After a wait the caller looks up again.
 * If the lock is not available, the holder makes no progress or the wait takes too long, the caller compiles.
 *
 * If a result is not cached, waiting for it is useless, and the callers would do so one after the other. So after a
 * holder whose result was not cached, its waiters compile concurrently, and for a minute no thread waits for that key.
 * The same holds, within the process, if a cached result does not serve the thread that waited for it (other headers
 * under the same names). If a holder released the lock without an outcome, because it died or was cancelled, one waiter
 * takes over and the others continue to wait.
 *
 * Calling sequence, for each compilation, with a zeroed struct compile_lock:
 *     do { look up; } while (missed && compile_lock_acquire(lock, options, key));
 *     compile if still missed; compile_lock_release(lock, outcome)
 * compile_lock_release() of a lock that is not held does nothing. All waits of one compilation together take at most
 * `wait_seconds`. The time that a process waited for holders in other processes that it gave up is subtracted from its
 * next waits, until one of them leads to a result. So holders cannot delay a process for longer, however many keys it
 * compiles. A thread that holds a compile lock never waits for another one (a compilation inside a compilation).
 *
 * Errors: none. If all places of the table are in use, the caller compiles. Threads: any; the mutex is held for a few
 * loads and stores. Signals: not from handlers. errno is not preserved. Cancellation: must be off.
 * Fork: compile_lock_fork_child() in the child, from an atfork handler. A child holds no compile locks: it closes its
 * copies of the descriptors, and releasing a lock of the parent has no effect.
 */
#ifndef CACHE_COMPILE_LOCK_H
#define CACHE_COMPILE_LOCK_H

#include "cache/entry.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct compile_lock_options {
	const char *directory; /* NULL: locks apply to threads of this process only */
	bool shared;
	bool read_only;        /* as with NULL, because other processes do not get results of this one */
	unsigned wait_seconds; /* 0: no lock is taken */
};

enum compile_lock_state {
	COMPILE_LOCK_NEW,
	COMPILE_LOCK_QUEUED,
	COMPILE_LOCK_HELD,
	COMPILE_LOCK_AWAITED,
	COMPILE_LOCK_UNLOCKED
};

struct compile_lock {
	enum compile_lock_state state;
	struct place *place; /* QUEUED, HELD; else NULL */
	pid_t owner;         /* the process that acquires */
	uint8_t key[ENTRY_KEY_BYTES];
	int64_t deadline;
	int rounds;    /* holders in other processes that released the lock while this one waited */
	bool waited;   /* for another thread or process */
	int64_t spent; /* ns spent waiting for other processes that released the lock */
};

enum compile_lock_outcome {
	COMPILE_LOCK_ABANDONED, /* no outcome: a waiter takes over */
	COMPILE_LOCK_NOT_KEPT,  /* the result was not cached */
	COMPILE_LOCK_KEPT_HERE, /* the result was cached in memory only, not in the store */
	COMPILE_LOCK_KEPT       /* the result was cached and stored, or found */
};

/* Call after a miss. Returns true to look up again, and to call it again after another miss; false to compile now. */
bool compile_lock_acquire(struct compile_lock *lock, const struct compile_lock_options *options,
                          const uint8_t key[ENTRY_KEY_BYTES]);
/* Wakes the waiters and tells them the outcome. */
void compile_lock_release(struct compile_lock *lock, enum compile_lock_outcome outcome);

void compile_lock_fork_child(void);

#endif

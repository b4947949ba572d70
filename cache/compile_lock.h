/* SPDX-License-Identifier: MIT */
/*
 * compile_lock: one compilation of a key at a time, among threads and processes (docs/DESIGN.md D)
 *
 *     NEW --place taken, file lock taken or not available--> SETTLED: look up again, compile, release
 *      |        `-- another process released the file lock --> QUEUED: look up again; missed: tries once more, SETTLED
 *      |-- another thread cached a result --> AWAITED: look up again; missed: SETTLED
 *      `-- the result is not cached, or the wait took too long --> SETTLED: compile
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
 *     do { look up; } while (missed && compile_lock_acquire(lock, directory, wait_seconds, key));
 *     compile if still missed; compile_lock_release(lock, outcome)
 * compile_lock_release() of a lock that is not held does nothing. All waits of one compilation together take at most
 * `wait_seconds`. A thread that holds a compile lock never waits for another one (a compilation inside a compilation).
 *
 * Errors: none. If all places of the table are in use, the caller compiles. Threads: any; the mutex is held for a few
 * loads and stores. Signals: not from handlers. errno is not preserved. Cancellation: must be off.
 * Fork: compile_lock_fork_child() in the child, from an atfork handler. A child holds no compile locks: it closes its
 * copies of the descriptors, and releasing a lock of the parent has no effect.
 */
#ifndef CACHE_COMPILE_LOCK_H
#define CACHE_COMPILE_LOCK_H

#include "cache/directory.h"

enum compile_lock_state { COMPILE_LOCK_NEW, COMPILE_LOCK_QUEUED, COMPILE_LOCK_AWAITED, COMPILE_LOCK_SETTLED };

struct compile_lock {
	enum compile_lock_state state;
	struct place *place; /* of a holder; else NULL */
	pid_t owner;         /* the process that acquires */
	uint8_t key[ENTRY_KEY_BYTES];
	int64_t deadline;
	bool waited;   /* for another thread or process */
	int64_t spent; /* ns spent waiting for other processes that released the lock */
};

enum compile_lock_outcome {
	COMPILE_LOCK_ABANDONED, /* no outcome: a waiter takes over */
	COMPILE_LOCK_NOT_KEPT,  /* the result was not cached */
	COMPILE_LOCK_KEPT_HERE, /* the result was cached in memory only, not in the store */
	COMPILE_LOCK_KEPT       /* the result was cached and stored, or found */
};

/*
 * Call after a miss. Returns true to look up again, and to call it again after another miss; false to compile now.
 * `directory` NULL: the lock applies to threads of this process only, because other processes do not get its results.
 * `wait_seconds` 0: no lock is taken.
 */
bool compile_lock_acquire(struct compile_lock *lock, const struct directory *directory, unsigned wait_seconds,
                          const uint8_t key[ENTRY_KEY_BYTES]);
/* Wakes the waiters and tells them the outcome. */
void compile_lock_release(struct compile_lock *lock, enum compile_lock_outcome outcome);

void compile_lock_fork_child(void);

#endif

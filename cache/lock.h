/* SPDX-License-Identifier: MIT */
/*
 * lock: file locks with a bounded wait, and the lock file of the cache directory
 *
 * Every lock of this project is an open-file-description lock on bytes of a file: the kernel releases it when its
 * holder dies. A waiter polls, because F_OFD_SETLKW would wait without limit for a holder that is stopped.
 *
 * The directory's lock file is <path>/v1/lock. Its bytes are locked and never written: a key selects one byte, and
 * LOCK_EVICTION is another.
 *
 * Calling sequence: lock_take(); lock_release().
 * Errors: -EAGAIN: another process holds the lock. If the file system has no locks, `*ret_lock` is -1 and the caller
 * continues without a lock: locks keep the sums exact and results from being lost, but no result is wrong without them.
 * After a wait that timed out, the process does not wait for such locks until it acquires one at once.
 * Threads: any; each holder has its own descriptor. Fork: locks are released explicitly, because a child has the
 * descriptor too. Signals: EINTR is retried.
 */
#ifndef CACHE_LOCK_H
#define CACHE_LOCK_H

#include "cache/directory.h"

/* ---- locks on bytes of any file ---- */

enum lock_result {
	LOCK_TAKEN,
	LOCK_HELD, /* another process still holds it after the wait */
	LOCK_NONE  /* the file system has no locks, or none is available: continue without */
};
struct lock_range {
	off_t at;
	off_t size; /* 0: to the end */
};
#define LOCK_WHOLE ((struct lock_range){0, 0})

/* Locks the range, polling for about `wait_us` microseconds; 0: tries once. */
enum lock_result lock_bytes(int file, struct lock_range range, unsigned wait_us);
/* Call before close(): a child that was forked meanwhile has the descriptor too, so close() would not release it. */
void lock_release_bytes(int file, struct lock_range range);
/*
 * Returns whether the open file is on a network file system, whose locks may be valid on one node only or cost a round
 * trip each. If fstatfs() fails, it counts as being on one.
 */
bool lock_is_remote(int file);

/* ---- the directory's lock file ---- */

#define LOCK_WAIT_US 200000 /* how long a store waits: for its key, and for its turn where it must evict */

/* A process that evicts locks this byte, which no key selects. */
#define LOCK_EVICTION (UINT64_C(1) << 62)

/*
 * Locks the byte of a key, or LOCK_EVICTION if it is NULL, polling for about `wait_us` microseconds. A process holds
 * the lock of a key while it changes or removes the file of the key.
 */
int lock_take(const struct directory *directory, int home, const uint8_t *key, unsigned wait_us, int *ret_lock);
/* Releases the lock and closes the file; -1 is accepted. */
void lock_release(int lock);

#endif

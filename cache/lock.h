/* SPDX-License-Identifier: MIT */
/*
 * lock: file locks with a bounded wait, and the lock file of the cache directory
 *
 * Every lock of this project is an open-file-description lock on bytes of a file: the kernel releases it when its
 * holder dies. F_OFD_SETLKW would wait for as long as a stopped holder likes, so a waiter polls instead.
 *
 * The directory's lock file is <path>/v1/lock. Its bytes are locked and never written: one byte for each key, and
 * LOCK_USAGE_INDEX.
 *
 * Calling sequence: lock_take() or lock_take_key(); lock_release().
 * Errors: -EAGAIN: another process holds the lock. If the file system has no locks, `*ret_lock` is -1 and the caller
 * continues without: the locks keep sums exact, and no result depends on them. After a wait in vain the process does
 * not wait again for locks of that kind until it gets one at once.
 * Threads: any; each holder has its own descriptor. Fork: locks are released explicitly, because a child has the
 * descriptor too. Signals: EINTR is retried.
 */
#ifndef CACHE_LOCK_H
#define CACHE_LOCK_H

#include "cache/directory.h"

/* ---- locks on bytes of any file ---- */

enum lock_mode { LOCK_ALONE, LOCK_SHARED };
enum lock_result {
	LOCK_TAKEN,
	LOCK_HELD, /* another process holds it, after the wait too */
	LOCK_NONE  /* this file system has no locks, or none is available: continue without */
};
struct lock_range {
	off_t at;
	off_t size; /* 0: to the end */
};
#define LOCK_WHOLE ((struct lock_range){0, 0})

/* Polls for about `wait_us` microseconds; 0: tries once. */
enum lock_result lock_bytes(int file, struct lock_range range, enum lock_mode mode, unsigned wait_us);
/* Call before close(): a child that was forked meanwhile has the descriptor too, so closing would not release it. */
void lock_release_bytes(int file, struct lock_range range);

/* ---- the directory's lock file ---- */

/* The byte of the usage index; no key has it. */
#define LOCK_USAGE_INDEX (UINT64_C(1) << 62)

/* Locks one byte, polling for about `wait_us`. */
int lock_take(const struct directory *directory, int home, uint64_t byte, unsigned wait_us, int *ret_lock);
/* Locks the byte of `key`: needed to change its file. */
int lock_take_key(const struct directory *directory, int home, const uint8_t key[ENTRY_KEY_BYTES], unsigned wait_us,
                  int *ret_lock);
/* Opens the lock file for lock_add_key(); nothing is locked yet. */
void lock_begin(const struct directory *directory, int home, int *ret_lock);
/* Releases all bytes and closes the file; -1 is accepted. */
void lock_release(int lock);

/*
 * Tries to add `key` to an open lock, without waiting. Returns false if another process holds that key. A
 * lock_release_key() releases that key only.
 */
bool lock_add_key(int lock, const uint8_t key[ENTRY_KEY_BYTES]);
void lock_release_key(int lock, const uint8_t key[ENTRY_KEY_BYTES]);

#endif

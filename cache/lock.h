/* SPDX-License-Identifier: MIT */
/*
 * lock: who changes files of the cache directory takes turns
 *
 * One file, <path>/v1/lock, of which bytes are locked and none is written: a byte for each key, and LOCK_USAGE_INDEX.
 * The kernel keeps the locks (open file descriptions'), so those of a process that dies are gone.
 *
 * Calling sequence: lock_take() or lock_take_key(); lock_release(). Errors: -EAGAIN: another has it. Where the file
 * system has no locks, or none can be had, `*ret_lock` is -1 and one goes on without: the locks keep sums exact, and
 * nothing that is right hangs on them. A process that has waited in vain does not wait again until it gets such a lock
 * at once. Threads: any; each holder has a descriptor of its own. Fork: released aloud, since a child has the
 * descriptor too. Signals: EINTR is retried.
 */
#ifndef CACHE_LOCK_H
#define CACHE_LOCK_H

#include "cache/directory.h"

/* ---- bytes of any file of ours: the one way to lock and to wait for a lock ---- */

enum lock_mode { LOCK_ALONE, LOCK_SHARED };
enum lock_result {
	LOCK_TAKEN,
	LOCK_HELD, /* another has it, still after the wait */
	LOCK_NONE  /* this file system has no locks, or none can be had: one goes on without */
};
struct lock_range {
	off_t at;
	off_t size; /* 0: to the end */
};
#define LOCK_WHOLE ((struct lock_range){0, 0})

/* Polls for about `wait_us`; 0: asks once. */
enum lock_result lock_bytes(int file, struct lock_range range, enum lock_mode mode, unsigned wait_us);
/* Before the file is closed: a child forked meanwhile has the descriptor too, and closing ours would not release it. */
void lock_release_bytes(int file, struct lock_range range);

/* ---- the directory's lock file ---- */

/* A byte that is no key's. */
#define LOCK_USAGE_INDEX (UINT64_C(1) << 62)

/* Polls for about `wait_us`. */
int lock_take(const struct directory *directory, int home, uint64_t byte, unsigned wait_us, int *ret_lock);
/* The lock that those who change the file of `key` take. */
int lock_take_key(const struct directory *directory, int home, const uint8_t key[ENTRY_KEY_BYTES], unsigned wait_us,
                  int *ret_lock);
/* For lock_add_key() alone: nothing is locked yet. */
void lock_begin(const struct directory *directory, int home, int *ret_lock);
/* Lets go of all. */
void lock_release(int lock);

/* Who holds a lock takes a key's too, without waiting; false: another has it. Then lets go of that one alone. */
bool lock_add_key(int lock, const uint8_t key[ENTRY_KEY_BYTES]);
/* The same, polling for about `wait_us`. */
bool lock_wait_key(int lock, const uint8_t key[ENTRY_KEY_BYTES], unsigned wait_us);
void lock_release_key(int lock, const uint8_t key[ENTRY_KEY_BYTES]);

#endif

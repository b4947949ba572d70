/* SPDX-License-Identifier: MIT */
/*
 * compile_lock_file: one compilation of a key at a time among processes (the lower half of cache/compile_lock.h)
 *
 * Layout: <directory>/v1/compile-lock. The process that compiles a key locks one byte, chosen by 62 bits of the key,
 * far behind the end of the file. The first 64 KiB hold a magic, which marks the file as ours, and notes: who compiles
 * a key, and how the last compilation ended. One slot serves many keys. Notes are hints: a note that was overwritten,
 * torn or forged costs a bounded wait or a compilation.
 *
 *     free --acquire--> held, note COMPILING --release--> note KEPT or NOT_KEPT, then free
 *                       \-- the holder dies or gives up: free, note still COMPILING: one of the waiters takes over
 *
 * Waiters poll: after 1 ms, then after an eighth of the time waited so far, at most 50 ms. All of them see a release at
 * once, because looking takes no lock. They stop waiting for a holder that has been stopped for 2 s, or that died while
 * a child still has its descriptor; the holder is looked up by its pid, if both processes share a pid namespace. A lock
 * is waited for only if it covers exactly that byte and, within half a second, has a note for this key: a process that
 * locks the file by accident or to be in the way holds nobody up. Members of a shared directory may forge notes;
 * cache/compile_lock.h bounds what a process waits in vain in all. A note NOT_KEPT counts for a minute: until then
 * nobody waits for that key.
 *
 * Calling sequence: compile_lock_file_acquire(); after COMPILE_LOCK_FILE_TAKEN, compile_lock_file_release().
 * Errors: COMPILE_LOCK_FILE_NONE for everything that goes wrong: no directory, not trusted, not writable, no locks, few
 * descriptors left, a network file system (whose locks may hold on one node only).
 * Descriptors: one while a lock is held or waited for; O_CLOEXEC, never 0, 1 or 2. The host may close it. Then the lock
 * is gone, and the number is left alone, because it may belong to the host's file.
 * Fork: the child shares the lock with its parent. compile_lock_file_forget() closes the child's descriptor and
 * releases nothing. Threads: any, each with its own struct. Signals: EINTR is retried. errno is not preserved.
 */
#ifndef CACHE_COMPILE_LOCK_FILE_H
#define CACHE_COMPILE_LOCK_FILE_H

#include "cache/directory.h"

struct compile_lock_file {
	int fd; /* -1: none */
	dev_t device;
	ino_t inode;
	off_t stamp;    /* the position of this open file description, which tells it from others of the file */
	uint64_t place; /* offset of the key's byte */
	uint64_t tag;   /* names the key in its note */
	uint64_t began; /* CLOCK_MONOTONIC, ns: names this holder */
};

enum compile_lock_file_state {
	COMPILE_LOCK_FILE_NONE,  /* not available */
	COMPILE_LOCK_FILE_TAKEN, /* this process has it */
	COMPILE_LOCK_FILE_KEPT,  /* another released it and its result was stored */
	COMPILE_LOCK_FILE_NOT_KEPT, /* another released it without a stored result: nobody waits for that key for a minute */
	COMPILE_LOCK_FILE_OVER,    /* another released it; a third has it now */
	COMPILE_LOCK_FILE_GIVEN_UP /* the wait took too long, the holder is stopped, or it was only tried */
};

/*
 * `opened` is called with the struct as soon as it has a descriptor, and again when that is closed (fd is -1 then), so
 * that a fork handler can close it. `deadline`: CLOCK_MONOTONIC, ns. Only after TAKEN *ret_file has a descriptor.
 */
enum compile_lock_file_patience { COMPILE_LOCK_FILE_TRY, COMPILE_LOCK_FILE_WAIT };
typedef void compile_lock_file_opened(void *context, const struct compile_lock_file *file);
enum compile_lock_file_state compile_lock_file_acquire(const struct directory *directory,
                                                       const uint8_t key[ENTRY_KEY_BYTES], int64_t deadline,
                                                       enum compile_lock_file_patience patience,
                                                       compile_lock_file_opened *opened, void *context,
                                                       struct compile_lock_file *ret_file);

enum compile_lock_file_outcome {
	COMPILE_LOCK_FILE_ENDED_WITHOUT,
	COMPILE_LOCK_FILE_ENDED_KEPT,
	COMPILE_LOCK_FILE_ENDED_NOT_KEPT
};
void compile_lock_file_release(struct compile_lock_file *file, enum compile_lock_file_outcome outcome);
void compile_lock_file_forget(struct compile_lock_file *file);

int64_t compile_lock_clock(void); /* CLOCK_MONOTONIC, ns */

#endif

/* SPDX-License-Identifier: MIT */
/*
 * compile_lock_file: one compilation of a key at a time among processes (the lower half of cache/compile_lock.h)
 *
 * Layout: <directory>/v1/compile-lock. The process that compiles a key locks one byte, which 62 bits of the key select
 * and which may be far beyond the end of the file. The first 64 KiB contain a magic, which marks the file as ours, and
 * notes: which thread compiles a key, and how the last compilation ended. Many keys share one slot. Notes are hints: a
 * note that was overwritten, torn or forged costs a bounded wait or a compilation.
 *
 *     free --acquire--> held, note COMPILING --release--> note KEPT or NOT_KEPT, then free
 *                       \-- the holder dies, or has no outcome: free, note still COMPILING: a waiter takes over
 *
 * Waiters poll: after 1 ms, then after an eighth of the time waited so far, at most 50 ms. All of them see a release
 * independently, because looking takes no lock. They stop waiting for a holder that has been stopped for 2 s, or that
 * died while a child still has its descriptor; the holder is found by its thread id, if both processes are in the same
 * pid namespace. A process waits for a lock only if that covers exactly the key's byte and, within half a second, has a
 * note for this key. So a process that locks the file by accident or on purpose delays no other for longer. Members of
 * a shared directory may forge notes; cache/compile_lock.h limits the sum of useless waits of a process. A note
 * NOT_KEPT is valid for a minute: until then no process waits for that key.
 *
 * Calling sequence: compile_lock_file_acquire(); after COMPILE_LOCK_FILE_TAKEN, compile_lock_file_release().
 * Errors: COMPILE_LOCK_FILE_NONE for every error: no directory, not trusted, not writable, no locks, few descriptors
 * left, a network file system (whose locks may be valid on one node only).
 * Descriptors: one while a lock is held or waited for; O_CLOEXEC, never 0, 1 or 2. If the host closes it, the lock is
 * lost, and the number is not closed again, because it may belong to a file of the host.
 * Fork: the child shares the lock with its parent. compile_lock_file_forget() closes the child's descriptor without
 * releasing the lock. Threads: any, each with its own struct. Signals: EINTR is retried. errno is not preserved.
 */
#ifndef CACHE_COMPILE_LOCK_FILE_H
#define CACHE_COMPILE_LOCK_FILE_H

#include "cache/directory.h"

struct compile_lock_file {
	int fd; /* -1: none */
	dev_t device;
	ino_t inode;
	off_t stamp;    /* the position of this open file description, which identifies it */
	uint64_t place; /* offset of the key's byte */
	uint64_t tag;   /* identifies the key in its note */
	uint64_t began; /* CLOCK_MONOTONIC, ns; identifies this holder in its note */
};

enum compile_lock_file_state {
	COMPILE_LOCK_FILE_NONE,     /* not available */
	COMPILE_LOCK_FILE_TAKEN,    /* this process has it */
	COMPILE_LOCK_FILE_KEPT,     /* another process released it and its result was stored */
	COMPILE_LOCK_FILE_NOT_KEPT, /* the last result was not stored: no process waits for that key for a minute */
	COMPILE_LOCK_FILE_OVER,     /* another process released it, and a third one has it now */
	COMPILE_LOCK_FILE_GIVEN_UP  /* the wait took too long, the holder is stopped, or there was to be no wait */
};

/*
 * Tries to take the lock of `key`, and waits until `deadline` (CLOCK_MONOTONIC, ns) with COMPILE_LOCK_FILE_WAIT.
 * `opened` is called with the struct as soon as that has a descriptor, and again when the descriptor is closed (fd is
 * -1 then), so that a fork handler can close it. *ret_file is written only with COMPILE_LOCK_FILE_TAKEN.
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
/* Notes the outcome, releases the lock and closes the descriptor. */
void compile_lock_file_release(struct compile_lock_file *file, enum compile_lock_file_outcome outcome);
/* Closes the descriptor only. */
void compile_lock_file_forget(struct compile_lock_file *file);

#endif

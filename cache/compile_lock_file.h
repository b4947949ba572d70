/* SPDX-License-Identifier: MIT */
/*
 * compile_lock_file: one compile of a key at a time over processes (the lower half of cache/compile_lock.h)
 *
 * Layout: <directory>/v1/compile-lock. Of every key one byte, chosen by 62 bits of it and far behind the end of the file, is locked by the process that compiles it (an
 * open-file-description lock). The file's first 64 KiB hold a magic, by which it is known as ours, and notes, one slot
 * for many keys: who compiles, and how the last compile ended. Notes are hints: one that was overwritten, torn or
 * forged costs a wait (bounded) or a compile.
 *
 *     free --acquire--> held, note COMPILING --release--> note KEPT or NOT_KEPT, then free
 *                       \-- holder dies, or gives up: free, note COMPILING: whoever waits may take it over
 *
 * A waiter takes no lock to see that the holder released it, so many see it at once. It polls: 1 ms at first, then an
 * eighth of the time waited so far, 50 ms at most. A holder that is stopped for 2 s, or that died while some child has
 * its descriptor, is waited for no longer (looked up by pid, where both are of one pid namespace and there is /proc).
 * A lock is waited for only if it is of that one byte and, within half a second, has a note that says that this key is
 * being compiled: who just holds the file's bytes, by accident or to be in the way, holds nobody up. A note may be
 * forged by whoever shares the directory: what a process waits in vain in all is bounded (cache/compile_lock.h).
 * A note NOT_KEPT counts for a minute: until then nobody waits for that key.
 *
 * Calling sequence: compile_lock_file_acquire(), and if that gave COMPILE_LOCK_FILE_TAKEN, compile_lock_file_release().
 * Errors: whatever is wrong (no directory, not trusted, not writable, no locks, few descriptors left, a network file
 * system, whose locks may be of one node) is COMPILE_LOCK_FILE_NONE. Descriptors: one, O_CLOEXEC and never 0, 1 or 2,
 * while a lock is held or waited for. A host may close it: then the lock is gone, and a descriptor of that number that
 * is not ours any more is left alone. Fork: a child shares the lock with its parent: compile_lock_file_forget() closes
 * the child's descriptor and unlocks nothing. Threads: any, each with its own struct. Signals: EINTR is retried. errno
 * is not preserved.
 */
#ifndef CACHE_COMPILE_LOCK_FILE_H
#define CACHE_COMPILE_LOCK_FILE_H

#include "cache/directory.h"

struct compile_lock_file {
	int fd; /* -1: none */
	dev_t device;
	ino_t inode;
	off_t stamp;    /* the offset of this very description: tells it from another of the same file */
	uint64_t place; /* of the key's byte */
	uint64_t tag;   /* of the key in its note */
	uint64_t began; /* CLOCK_MONOTONIC, ns: names this holder */
};

enum compile_lock_file_state {
	COMPILE_LOCK_FILE_NONE,     /* cannot be had */
	COMPILE_LOCK_FILE_TAKEN,    /* this process has it */
	COMPILE_LOCK_FILE_KEPT,     /* another released it and its result was stored */
	COMPILE_LOCK_FILE_NOT_KEPT, /* another released it, and there is nothing to wait for for a while */
	COMPILE_LOCK_FILE_OVER,     /* another released it; a third has it now */
	COMPILE_LOCK_FILE_GIVEN_UP  /* too long, or the holder stands still, or another has it and it was only tried */
};

/*
 * `opened` is called with the struct as soon as it has a descriptor, and again when that is closed (then fd is -1), so
 * that fork handlers may know. `deadline`: CLOCK_MONOTONIC, ns. The struct has a descriptor only if TAKEN.
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

/* SPDX-License-Identifier: MIT */
/*
 * compile_lock_file: one compilation of a key at a time among processes (the lower half of cache/compile_lock.h)
 *
 * Layout: <directory>/v1/compile-lock. A key selects a range of 2^31 offsets, far beyond the end of the file. The
 * process that compiles the key locks the first byte of that range and, behind it, as many as the code of its thread
 * says. So the kernel itself tells waiters which thread compiles, and forgets it with the lock. The
 * first 64 KiB of the file have a magic, which marks the file as ours, and notes on keys whose result was not cached.
 * Many keys share the place of one note. Notes are hints: one that was overwritten or forged costs a compilation.
 *
 *     free --acquire--> held --release--> free; if the result was not cached, a note says so
 *                         `-- the holder dies: free
 *
 * Waiters poll: after 1 ms, then after an eighth of the time waited so far, at most 50 ms. All of them see a release
 * independently, because looking takes no lock. They wait only for a lock that looks like a compile lock of the key,
 * and only while its thread makes progress. A note is valid for a minute: until then no process waits for that key.
 *
 * Calling sequence: compile_lock_file_acquire(); after COMPILE_LOCK_FILE_TAKEN, compile_lock_file_release().
 * Errors: COMPILE_LOCK_FILE_NONE for every error: no directory, not trusted, not writable, no locks, few descriptors
 * left, a network file system (whose locks may be valid on one node only).
 * Descriptors: one while a lock is held or waited for; O_CLOEXEC, never 0, 1 or 2. If the host closes it, the lock is
 * lost, and the number is not closed again, because it may belong to a file of the host.
 * Fork: the child shares the lock with its parent. compile_lock_file_forget() closes the child's descriptor without
 * releasing the lock. It may be called with a struct that another thread of the parent was working on.
 * Threads: any, each with its own struct. Signals: EINTR is retried. errno is not preserved.
 */
#ifndef CACHE_COMPILE_LOCK_FILE_H
#define CACHE_COMPILE_LOCK_FILE_H

#include "cache/directory.h"

#include <stdatomic.h>

/*
 * holder: whether the thread that holds a compile lock makes progress
 *
 * A waiter must not wait for a thread that is stopped, frozen, dead, or hangs (a child that was forked while another
 * thread compiled can hang in the compiler's own locks). All of them get no processor time. A thread that only waits
 * for its disk for two seconds looks the same; its waiters then compile too, which costs nothing else.
 *
 * holder_code() names the calling thread, by a number between 1 and HOLDER_CODE_MAX: the thread id and a few bits of
 * its pid namespace, outside which the id means nothing. A waiter calls holder_rests() repeatedly, with a struct that
 * was zeroed when it began to wait. What cannot be found out (another namespace, no /proc, hidepid=) is progress.
 */
#define HOLDER_CODE_BITS 30
#define HOLDER_CODE_MAX  ((INT64_C(1) << HOLDER_CODE_BITS) - 1)

struct holder_watch {
	uint64_t time; /* processor time of the holder when it was last seen to change, ns */
	int64_t since; /* when that was (CLOCK_MONOTONIC, ns); 0: never */
};

int64_t holder_code(void);
/* Returns whether the holder's processor time has been the same for two seconds of calls to this function. */
bool holder_rests(struct holder_watch *watch, int64_t code);

/* COMPILE_LOCK_FILE_CLOSED initialises it. */
struct compile_lock_file {
	atomic_int fd; /* -1: none */
	off_t stamp;   /* the position of this open file description, which identifies it */
	off_t place;   /* the first byte of the key's range */
	uint64_t tag;  /* identifies the key in its note */
};
#define COMPILE_LOCK_FILE_CLOSED {.fd = -1}

enum compile_lock_file_state {
	COMPILE_LOCK_FILE_NONE,     /* not available */
	COMPILE_LOCK_FILE_TAKEN,    /* this process has it */
	COMPILE_LOCK_FILE_ENDED,    /* another process had it and released it: its result may be there */
	COMPILE_LOCK_FILE_NOT_KEPT, /* the last result was not stored: no process waits for that key for a minute */
	COMPILE_LOCK_FILE_GIVEN_UP  /* the wait took too long, the holder rests, or there was to be no wait */
};

/*
 * Tries to take the lock of `key`, and waits until `deadline` (CLOCK_MONOTONIC, ns; 0: does not wait). `file` is closed
 * before; it is open afterwards only with COMPILE_LOCK_FILE_TAKEN, but meanwhile too.
 */
enum compile_lock_file_state compile_lock_file_acquire(struct compile_lock_file *file,
                                                       const struct directory *directory,
                                                       const uint8_t key[ENTRY_KEY_BYTES], int64_t deadline);
/* Writes the note of a result that was not stored. The lock is held. */
void compile_lock_file_note(const struct compile_lock_file *file);
/* Releases the lock and closes the descriptor. */
void compile_lock_file_release(struct compile_lock_file *file);
/* Closes the descriptor only. */
void compile_lock_file_forget(struct compile_lock_file *file);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * holder: whether the thread that holds a compile lock makes progress
 *
 * Purpose: a waiter must not wait for a thread that is stopped, frozen, dead, or hangs (a child that was forked while
 * another thread compiled can hang in the compiler's own locks). All of them get no processor time. A thread that only
 * waits for its disk for two seconds looks the same; its waiters then compile too, which costs nothing else.
 *
 * Calling sequence: holder_code() names the calling thread. A waiter calls holder_rests() repeatedly, with a struct
 * that was zeroed when it began to wait for that holder.
 *
 * A code is between 1 and HOLDER_CODE_MAX. It has the thread id and a few bits of its pid namespace, outside which the
 * id means nothing. What cannot be found out (another namespace, no /proc, hidepid=) counts as progress.
 * Errors: none. Threads, signals: any. errno is not preserved.
 */
#ifndef CACHE_HOLDER_H
#define CACHE_HOLDER_H

#include <stdbool.h>
#include <stdint.h>

#define HOLDER_CODE_BITS 30
#define HOLDER_CODE_MAX  ((INT64_C(1) << HOLDER_CODE_BITS) - 1)

struct holder_watch {
	uint64_t time; /* processor time of the holder when it was last seen to change, ns */
	int64_t since; /* when that was (CLOCK_MONOTONIC, ns); 0: never */
};

int64_t holder_code(void);
/* Returns whether the holder's processor time has been the same for two seconds of calls to this function. */
bool holder_rests(struct holder_watch *watch, int64_t code);

#endif

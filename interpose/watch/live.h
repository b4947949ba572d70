/* SPDX-License-Identifier: MIT */
/*
 * live: the compilations in progress and their threads (shared by the files of watch)
 *
 * live_current is the innermost compilation of this thread. Calls from threads without a compilation use a list of all
 * compilations. Its lock, which also guards the traces' variables and answers, is held for a few loads and stores,
 * never during a call that takes a path.
 */
#ifndef INTERPOSE_WATCH_LIVE_H
#define INTERPOSE_WATCH_LIVE_H

#include "keygen/trace.h"

struct live {
	struct trace *trace;
	struct live *outer; /* the enclosing compilation of the same thread, or NULL */
	struct live *next;  /* in the list of all threads' compilations; under the lock */
	char locale[512];   /* the last answer of setlocale(category, NULL), "" if there was none */
};

extern _Thread_local struct live *live_current;

/*
 * Records that a call was seen, and returns this thread's compilation. If the thread has none, taints the traces of all
 * compilations and returns NULL.
 */
struct live *live_enter(void);
/*
 * The compilations that a call of this thread concerns: its own or, if it has none, all. The list is locked from
 * live_first() until the function that returns NULL.
 */
struct live *live_first(void);
struct live *live_next(const struct live *live);
/* Taints the traces of these compilations. */
void live_taint(uint32_t taint);

#endif

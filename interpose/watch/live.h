/* SPDX-License-Identifier: MIT */
/*
 * live: which compiles are under way, on which threads (shared by the parts of watch)
 *
 * live_current is the innermost compile of this thread. The list of all of them serves the threads that have none: its
 * lock is held for a few loads and stores, never across a call that takes a path.
 */
#ifndef INTERPOSE_WATCH_LIVE_H
#define INTERPOSE_WATCH_LIVE_H

#include "keygen/trace.h"

#define LIVE_FOREIGN_MAX 256

struct live {
	struct trace *trace;
	struct live *outer; /* of the same thread */
	struct live *next;  /* of any thread; under the lock */
	struct live *previous;
	uint8_t *buffer;                 /* one piece of a file, once one was read */
	char *foreign[LIVE_FOREIGN_MAX]; /* asked for by threads without a trace; under the lock */
	size_t foreign_count;
	char locale[512]; /* the last answer of a query, "" where there was none */
};

extern _Thread_local struct live *live_current;

/* A call was seen. This thread's compile; for a thread without one: NULL, and all others' traces are tainted. */
struct live *live_enter(void);
/* Taints every live compile; nothing where there is none. */
void live_taint_all(uint32_t taint);
/* A variable, or (NULL) the working directory, was asked for: is the answer what the compile's key says? */
void live_told(struct trace *trace, const char *variable, const char *answer);
/* The same by a thread without a compile: every live compile is told, and gets the variable when it ends. */
void live_ask_all(const char *variable, const char *answer);
/* The machine was asked for a number: by this thread's compile, or by a thread without one, for every live compile. */
void live_answered(uint32_t question, int64_t answer);

#endif

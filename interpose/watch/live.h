/* SPDX-License-Identifier: MIT */
/*
 * live: the compilations in progress and their threads
 *
 * A thread that compiles has a trace, between live_begin() and live_end(). A watched call on a thread without a trace
 * is not recorded while no thread compiles. Otherwise it taints every live trace (TAINT_OTHER_THREAD) if it concerns
 * files or processes. If it reads the environment, the variable is added to every live trace, because NVRTC's worker
 * threads call getenv.
 *
 * live_current is the innermost compilation of this thread. The list of all compilations has a lock, which also guards
 * the traces' variables and answers, and is held for a few loads and stores, never during a call that takes a path.
 * Fork: a compilation in a forked child works; it has the trace of the thread that called fork.
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
 * Starts recording this thread's watched calls in `trace`. Calls nest, because a flow callback may compile: the inner
 * trace hides the outer one, which gets only the taints of the inner one.
 */
void live_begin(struct trace *trace);
void live_end(struct trace *trace);
/* To be called in a forked child: only the traces of the thread that called fork remain. */
void live_fork_child(void);

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

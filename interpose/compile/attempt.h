/* SPDX-License-Identifier: MIT */
/*
 * attempt: the state of one call that compiles
 *
 *     request   what the host asks for                filled in by request_describe()
 *     finding   what the look-up found                filled in by look_up()
 *     observed  what the real compilation did         filled in by attempt_compile()
 *
 * Each part is filled in by that one function, and is constant afterwards. Decisions, and everything that is reported
 * about the call, are in its event (event.h).
 *
 * Calling sequence: calloc(); request_describe(), look_up(); after a miss attempt_compile(), once, or on a
 * hit attempt_callback() in its place, if the host has a callback, with the host's code inside; attempt_free().
 * Threads: an attempt belongs to one thread. Errors: an error during a compilation is recorded as `doubt`, and the
 * result is not cached.
 */
#ifndef INTERPOSE_COMPILE_ATTEMPT_H
#define INTERPOSE_COMPILE_ATTEMPT_H

#include "cache/compile_lock.h"
#include "cache/counters.h"
#include "interpose/compile/event.h"
#include "interpose/compile/handle.h"
#include "interpose/compile/request.h"
#include "interpose/watch/snapshot.h"
#include "keygen/digest.h"
#include "keygen/surroundings.h"
#include "keygen/trace.h"

#include <stddef.h>
#include <stdint.h>

struct finding {
	struct fingerprint fingerprint;
	struct key key;
	bool in_memory; /* where the entry was found */
};

struct observed {
	struct snapshot *told; /* the process state with which every answer to the compiler must agree */
	struct places places;  /* the working directory is that of `told`; NULL if unknown */
	struct trace trace;
	bool watched;         /* from the beginning to the end */
	enum counter doubt;   /* why the result must not be cached, if known */
	enum counter unknown; /* why the compiler's unwatched() failed, or COUNTER_NONE */
	int return_code;
	enum outcome outcome; /* which the return code means */
	uint64_t cost_ns;
};

/*
 * Allocated on the heap, because a host may leave its callback by longjmp or an exception, which NVRTC tolerates. The
 * trace then stays in the list of the watch, where compilations of other threads still access it.
 */
struct attempt {
	struct request request;
	struct finding finding;
	struct observed observed;
	struct event *event; /* what is reported about the call */
	struct compile_lock compile_lock;
	enum compile_lock_outcome outcome; /* reported to the waiters when the compile lock is released */
};

void attempt_free(struct attempt *attempt); /* NULL is fine */

/*
 * Runs the real compilation under the watch, on the host's thread and with its state. The thread can be cancelled
 * there; a cleanup handler then frees the attempt and drops the reference to `held`. `doubt`: why the result must not
 * be cached, if known.
 */
void attempt_compile(struct handle *handle, const struct call *call, enum counter doubt, struct attempt *attempt,
                     struct entry *held);
/*
 * Calls the host's callback in the same thread state as the real compilation. Returns true if the callback stops the
 * compilation.
 */
bool attempt_callback(struct handle *handle, struct attempt *attempt, struct entry *held);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * attempt: one call that makes something, on its way
 *
 * Who fills what: describe() the request; the look-up in compile.c the key, the fingerprint and what it found;
 * attempt_watch() and attempt_unwatch() what the real compile did to the outside world; admit.h and binding.h read it.
 *
 * Calling sequence: attempt_new(); describe(); a miss: attempt_watch(), the real compile, attempt_unwatch() (or
 * attempt_abandon()); attempt_free(). Threads: an attempt belongs to one thread. Fork, signals: no state of its own.
 * Errors: what goes wrong is a `doubt`: the result is not kept.
 */
#ifndef INTERPOSE_COMPILE_ATTEMPT_H
#define INTERPOSE_COMPILE_ATTEMPT_H

#include "cache/agent.h"
#include "cache/compile_lock.h"
#include "cache/counters.h"
#include "interpose/compile/identity.h"
#include "interpose/compile/library.h"
#include "interpose/watch/snapshot.h"
#include "keygen/digest.h"
#include "keygen/roots.h"
#include "keygen/trace.h"

struct event;

struct attempt {
	struct library *library;
	struct event *event; /* what is told of the call; NULL: none is under way */
	const struct identity *identity;
	struct stream run; /* the call run of the request */
	struct roots roots;
	bool bound;       /* the request has its places in it, literally */
	bool exact;       /* times and sizes of files may reach the output (B5) */
	bool looks_count; /* paths that are only looked at are conditions even where no file is opened (B2) */
	struct span spans[2];
	size_t span_count;
	struct fingerprint fingerprint;
	struct key key;
	bool from_memory;
	bool stale;       /* results were there, and none held */
	unsigned refused; /* so many of those on disk */
	void *anew;       /* conditions of the result that holds, with stamps of now; NULL: as they are */
	bool agent_asked; /* the node's agent */
	bool agent_found; /* and it says that it found something */
	struct agent_question agent_question;
	struct compile_lock compile_lock;
	enum compile_lock_outcome outcome; /* for the compile lock, if it is held */
	struct call instead; /* what the real compile is given, where that is not the host's; options are ours */
	bool watched;
	enum counter doubt; /* a reason not to keep the result that was found on the way */
	struct trace trace;
	enum counter unknown;  /* what the compiler read of its own cannot be told: why */
	struct snapshot *told; /* what the compiler must have been told of the process */
	const char *cwd;       /* of that; NULL where it could not be had */
	struct places places;
	uint64_t cost_ns;
};

/* NULL: no memory. The compiler's own record, which begins with this one. */
struct attempt *attempt_new(struct library *library, struct event *event);
/* Frees what describes the request: the call run, the roots, and what the compiler keeps beside them. */
void attempt_forget_request(struct attempt *attempt);
void attempt_free(struct attempt *attempt); /* NULL is fine */

enum watching { WATCHING_NOTHING, WATCHING_IMPORTS };

/* Puts the watch around the real compile. */
void attempt_watch(struct attempt *attempt, enum watching watching);
void attempt_unwatch(struct attempt *attempt);
/* The compile will not come back (its thread was cancelled). */
void attempt_abandon(struct attempt *attempt);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * attempt: one compile call on its way
 *
 * Who fills what: describe() the request; the look-up in compile.c the key, the fingerprint and what it found;
 * attempt_watch() and attempt_unwatch() what the real compile did to the outside world; admit.h and binding.h read it.
 *
 * Calling sequence: calloc(); describe(); a miss: attempt_watch(), the real compile, attempt_unwatch() (or
 * attempt_abandon()); attempt_free() and free(). Threads: an attempt belongs to one thread. Fork, signals: no state of
 * its own. Errors: what goes wrong is a `doubt`: the result is not kept.
 */
#ifndef INTERPOSE_COMPILE_ATTEMPT_H
#define INTERPOSE_COMPILE_ATTEMPT_H

#include "cache/counters.h"
#include "cache/flight.h"
#include "interpose/compile/identity.h"
#include "interpose/compile/library.h"
#include "interpose/nvrtc/options.h"
#include "interpose/nvrtc/request.h"
#include "interpose/nvrtc/scan.h"
#include "interpose/watch/snapshot.h"
#include "keygen/digest.h"
#include "keygen/trace.h"

struct attempt {
	const struct identity *identity;
	const char **more; /* the host's options and one of ours, where there is need (compile.c) */
	struct stream call;
	struct roots roots;
	struct options options;
	struct span spans[2];
	size_t span_count;
	struct fingerprint fingerprint;
	struct key key;
	bool from_memory;
	bool stale; /* results were there, and none held */
	void *anew; /* conditions of the result that holds, with stamps of now; NULL: as they are */
	struct flight flight;
	enum flight_outcome outcome; /* of the flight, if there is one */
	bool watched;
	enum counter doubt; /* a reason not to keep the result that was found on the way */
	struct trace trace;
	int pch_error;         /* what a precompiled header stands for is not known, or not so any more */
	struct snapshot *told; /* what the compiler must have been told of the process */
	const char *cwd;       /* of that; NULL where it could not be had */
	struct places places;
	uint32_t findings; /* enum scan_finding in the texts of this compile that are not files */
	uint64_t cost_ns;
};

/* Frees what describes the request: the call run, the roots, the options as read. */
void attempt_forget_request(struct attempt *attempt);
void attempt_free(struct attempt *attempt);

/* Puts the watch around the real compile. */
void attempt_watch(struct attempt *attempt, struct library *library, bool watched);
void attempt_unwatch(struct attempt *attempt, struct library *library);
/* The compile will not come back (its thread was cancelled). */
void attempt_abandon(struct attempt *attempt);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * keep: may this result be kept, and keeping it (docs/DESIGN.md B, "What is never kept")
 *
 * Purpose: an attempt is one compile call on its way; keep_begin/end put the watch around the real compile, and
 * keep_result() decides by what was observed: return code, taints, the canary, environment, builtins, paths. Whatever
 * is not kept is counted with its reason.
 *
 * Calling sequence: keep_begin(), the real compile, keep_end(), then keep_result() or keep_compare(); attempt_free().
 * Threads: an attempt belongs to one thread. Fork, signals: no state of its own. Errors: a result is simply not kept.
 */
#ifndef INTERPOSE_KEEP_H
#define INTERPOSE_KEEP_H

#include "cache/flight.h"
#include "interpose/identity.h"
#include "interpose/program.h"
#include "interpose/snapshot.h"
#include "keygen/scan.h"
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
	int doubt; /* 0, or the counter + 1 of a reason not to keep the result that was found on the way */
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

void keep_begin(struct attempt *attempt, struct library *library, bool watched);
void keep_end(struct attempt *attempt, struct library *library);
/* The compile will not come back (its thread was cancelled). */
void keep_abandon(struct attempt *attempt);
void keep_result(struct program *program, struct attempt *attempt, int return_code);
/* NVRTCCACHE_VERIFY: is what the real library now says what the entry would have said? Counts and logs, unless the
 * entry does not hold any more, or the process has been given an option that lingers. */
void keep_compare(struct program *program, const struct attempt *attempt, int option_count, const char *const *options,
                  int return_code, const struct entry *expected);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * agent_breaker: whether the node's agent is asked at all (docs/DESIGN.md G2)
 *
 *     open --a question fails--> closed for 5 s --that is over, one probe--> closed as long again, for the others
 *      ^                           ^                                             |              |
 *      |                           '---- twice as long, at most 5 min <--it fails'              |
 *      '---------------------------------------------------------------------it is answered-----'
 *
 * Purpose: whoever does not answer costs a process one wait, not one for each kernel, and is found again when it comes
 * back. Of questions that were under way together when the first failed, only that one closes the way, and an answer to
 * one of them does not open it: who answers now and then is as bad as who does not.
 *
 * Calling sequence: agent_breaker_ask(); the question; agent_breaker_answered() or agent_breaker_failed() with what was
 * `seen`. For messages without an answer agent_breaker_tell(), and agent_breaker_failed() where it cannot be sent.
 * Threads: any. Fork: a child goes on with a copy, as the agent is the same; a probe that the parent had begun is over
 * by itself. Time: CLOCK_MONOTONIC in nanoseconds, above 0; a clock that stands before what was noted (a child in a time
 * namespace of its own) closes nothing for longer than the longest rest.
 */
#ifndef CACHE_AGENT_BREAKER_H
#define CACHE_AGENT_BREAKER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define AGENT_REST_FIRST (INT64_C(5) * 1000000000)
#define AGENT_REST_MAX   (INT64_C(300) * 1000000000)

/* Zeros: open. */
struct agent_breaker {
	_Atomic int64_t until; /* closed; 0: open */
	_Atomic int64_t rest;  /* how long it was closed for */
};

bool agent_breaker_ask(struct agent_breaker *breaker, int64_t now, int64_t *ret_seen);
bool agent_breaker_tell(const struct agent_breaker *breaker, int64_t now, int64_t *ret_seen);
void agent_breaker_answered(struct agent_breaker *breaker, int64_t seen);
void agent_breaker_failed(struct agent_breaker *breaker, int64_t seen, int64_t now);

#endif

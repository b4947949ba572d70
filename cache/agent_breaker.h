/* SPDX-License-Identifier: MIT */
/*
 * agent_breaker: whether the node's agent is asked at all (docs/DESIGN.md G2)
 *
 *      .-- answers that help: nothing is wasted; quick ones that do not: as before; slow ones: what was waited is added
 *      v   |
 *     open --a question fails, or more than `allowed` is wasted-----> closed for 5 s --that is over, one probe--.
 *      ^                                                               ^                                        v
 *      |                 twice as long, at most 5 min <--it fails, or is slow and does not help--closed as long again,
 *      '---------------------------------------------------it helps, or is quick---------------- for the others
 *
 * Purpose: whoever does not answer costs a process one wait, not one for each kernel, and is found again when it comes
 * back. So does whoever answers in time, slowly, and never helps: what was waited for in vain may come to `allowed`
 * between two answers that help. Quick is a hundredth of `allowed`: a kernel costs more than that to compile, and a fleet
 * that begins with an empty engine must not give it up. Of questions that were under way together when the first failed, only that one closes the way, and an answer to
 * one of them does not open it: who answers now and then is as bad as who does not.
 *
 * Calling sequence: agent_breaker_ask(); the question; agent_breaker_helped(), agent_breaker_useless() or
 * agent_breaker_failed() with what was `seen`. For messages without an answer agent_breaker_tell(), and agent_breaker_failed() where it cannot be sent.
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
#define AGENT_QUICK      100 /* an answer in the hundredth part of what may be wasted is quick */

/* Zeros: open. */
struct agent_breaker {
	_Atomic int64_t until;  /* closed; 0: open */
	_Atomic int64_t rest;   /* how long it was closed for */
	_Atomic int64_t wasted; /* waited for answers that did not help, since the last that did */
};

bool agent_breaker_ask(struct agent_breaker *breaker, int64_t now, int64_t *ret_seen);
bool agent_breaker_tell(const struct agent_breaker *breaker, int64_t now, int64_t *ret_seen);
void agent_breaker_helped(struct agent_breaker *breaker, int64_t seen);
/* It was answered after `waited`, and a compile follows all the same. */
void agent_breaker_useless(struct agent_breaker *breaker, int64_t seen, int64_t waited, int64_t allowed, int64_t now);
void agent_breaker_failed(struct agent_breaker *breaker, int64_t seen, int64_t now);

#endif

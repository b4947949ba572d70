/* SPDX-License-Identifier: MIT */
/*
 * agent_breaker: whether the node's agent is asked at all (docs/DESIGN.md G2)
 *
 *      .-- answers: what they spare is taken from what is wasted, what they cost beyond that is added, if it is not little
 *      v   |
 *     open --a question fails, or more than `allowed` is wasted-----> closed for 5 s --that is over, one probe--.
 *      ^                                                               ^                                        v
 *      |                 twice as long, at most 5 min <--it fails, or costs more than it spares--closed as long again,
 *      '-----------------------------------------------------it is worth it, or costs little---- for the others
 *
 * From open it is closed for twice as long, too, where it was opened less than eight rests ago.
 *
 * Purpose: whoever does not answer costs a process one wait, not one for each kernel, and is found again when it comes
 * back; whoever comes and goes is asked more and more seldom. Who answers in time, and slowly, costs no more: what is
 * waited, less the compiles that it spares, may come to `allowed`, so that a process is slower for asking by no more than
 * that and a question. Little is a hundredth of `allowed`: a kernel costs more than that to compile, and a fleet that
 * begins with an empty engine must not give it up.
 * Of questions that were under way together when the first failed, only that one closes the way, and an answer to one of
 * them does not open it: who answers now and then is as bad as who does not.
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
#define AGENT_STEADY     8   /* rests without a failure: then it is as if there had been none */
#define AGENT_LITTLE     100 /* the hundredth part of what may be wasted is little */
#define AGENT_PASSING    20 /* of what another process of the node spent, the twentieth: it had more to do than to ask */
#define AGENT_SPARED_MAX (INT64_C(86400) * 1000000000) /* whatever a result says that it cost */

/* Zeros: open. */
struct agent_breaker {
	_Atomic int64_t until;  /* closed; 0: open */
	_Atomic int64_t rest;   /* how long it was closed for */
	_Atomic int64_t opened; /* when, by the last probe; 0: never closed */
	_Atomic int64_t wasted; /* waited for, beyond what that spared */
};

bool agent_breaker_ask(struct agent_breaker *breaker, int64_t now, int64_t *ret_seen);
bool agent_breaker_tell(const struct agent_breaker *breaker, int64_t now, int64_t *ret_seen);
/* It was answered after `waited`, which spared a compile that costs so much (0: it follows all the same). */
struct agent_answer {
	int64_t waited;
	uint64_t spared;
	int64_t allowed;
};
void agent_breaker_answered(struct agent_breaker *breaker, int64_t seen, const struct agent_answer *answer,
                            int64_t now);
/* Another process asked and compiled, while this one waited for it: one lesson for all that wait, not one each. */
void agent_breaker_overheard(struct agent_breaker *breaker, const struct agent_answer *answer, int64_t now);
void agent_breaker_failed(struct agent_breaker *breaker, int64_t seen, int64_t now);

#endif

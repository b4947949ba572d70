/* SPDX-License-Identifier: MIT */
/*
 * breaker: a circuit breaker: whether something that may not answer is asked at all (docs/DESIGN.md G2, G5)
 *
 *     closed --so many failures in a row, or waits in vain beyond the budget--> open, for the first pause
 *       ^                                                                         |
 *       |                                                          the pause is over: one probe is let through
 *       |                                                                         |
 *       '--- it is answered --- half-open --- it fails: open, for twice the pause, up to the longest
 *
 * closed: questions are asked. open: they are refused. A pause lasts between half and all of what the rule says, drawn
 * anew each time, so that processes and nodes that lost one server together do not come back together. Where the breaker
 * opens again less than BREAKER_STEADY pauses after a probe has closed it, the pause doubles as well: a server that
 * comes and goes is asked more and more seldom.
 * Of questions that were under way when the first one failed, no other one opens the breaker again, and an answer to one
 * of them does not close it: only the probe does.
 *
 * Calling sequence: breaker_ask(); the question; then one of breaker_answered(), breaker_failed() and breaker_wasted()
 * with what was `seen`. breaker_allows() for what is not answered; breaker_wait_ns() where probes are made apart from the
 * questions.
 * Threads: any; atomics alone. Fork: a child goes on with a copy, as the server is the same; a probe that the parent had
 * begun is over by itself. Time: CLOCK_MONOTONIC in nanoseconds, above 0; a clock that stands before what was noted (a child
 * in a time namespace of its own) opens nothing for longer than the longest pause.
 */
#ifndef CACHE_BREAKER_H
#define CACHE_BREAKER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define BREAKER_STEADY   8
#define BREAKER_SMALL_NS INT64_C(3000000)     /* a wait that is shorter is not counted as wasted */
#define BREAKER_PROBE_NS INT64_C(10000000000) /* a probe of which nothing is heard for so long is over */

struct breaker_rule {
	unsigned failures; /* in a row that open it */
	int64_t budget_ns; /* of waits in vain, all together, since it was open last */
	int64_t first_ns;  /* pauses */
	int64_t longest_ns;
};

/* Zeros: closed. */
struct breaker {
	_Atomic int64_t until;  /* it is open; 0: closed */
	_Atomic int64_t pause;  /* the last one */
	_Atomic int64_t closed; /* when, by the last probe; 0: it was never open */
	_Atomic int64_t wasted;
	_Atomic unsigned failures;
};

/* Is it closed, or is a probe due? Takes no probe. */
bool breaker_allows(const struct breaker *breaker, const struct breaker_rule *rule, int64_t now, int64_t *ret_seen);
/* The same, and where a probe is due it is the caller's, and nobody else's. */
bool breaker_ask(struct breaker *breaker, const struct breaker_rule *rule, int64_t now, int64_t *ret_seen);
void breaker_answered(struct breaker *breaker, int64_t seen, int64_t now);
/* True: this has opened it. */
bool breaker_failed(struct breaker *breaker, const struct breaker_rule *rule, int64_t seen, int64_t now);
/* It was answered, after a wait that did not help. A probe that was one opens the breaker again. */
void breaker_wasted(struct breaker *breaker, const struct breaker_rule *rule, int64_t seen, int64_t waited,
                    int64_t now);
/* How long until a probe is due; -1: it is closed. */
int64_t breaker_wait_ns(const struct breaker *breaker, int64_t now);

#endif

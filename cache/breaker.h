/* SPDX-License-Identifier: MIT */
/*
 * breaker: a circuit breaker for a server that may not answer (docs/DESIGN.md G2, G5)
 *
 *     closed --`failures` failed questions in a row--> open for a pause --pause over--> half-open: one probe
 *       ^                                                   ^                               |
 *       |                                                   `--- fails: twice the pause ----+
 *       `-------------------------------- is answered --------------------------------------'
 *
 * Closed: questions are asked. Open: they are refused. The first pause is `first_ns`; each failed probe doubles it, up
 * to `longest_ns`. A pause lasts between half and all of that, at random, so that processes that lost one server
 * together do not come back together.
 *
 * Calling sequence: breaker_ask(); the question; then breaker_answered() or breaker_failed() with the `seen` that
 * breaker_ask() gave. `seen` tells the probe from questions that began before the breaker opened: these neither extend
 * the pause nor close the breaker. breaker_allows() is for messages without an answer. breaker_wait_ns() is for callers
 * that probe apart from their questions.
 * Threads: any. Fork: the child continues with a copy. Times: CLOCK_MONOTONIC in nanoseconds, above 0.
 */
#ifndef CACHE_BREAKER_H
#define CACHE_BREAKER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define BREAKER_PROBE_NS INT64_C(10000000000) /* a probe without a result is repeated after this time */

struct breaker_rule {
	unsigned failures;
	int64_t first_ns;
	int64_t longest_ns;
};

/* All zeros: closed. */
struct breaker {
	_Atomic int64_t until; /* the end of the pause, or of a probe's time; 0: closed */
	_Atomic int64_t pause; /* the last one */
	_Atomic unsigned failures;
};

/* Returns whether the breaker is closed or a probe is due, without taking the probe. */
bool breaker_allows(const struct breaker *breaker, const struct breaker_rule *rule, int64_t now, int64_t *ret_seen);
/* The same, and takes the probe if one is due: no other caller gets it. */
bool breaker_ask(struct breaker *breaker, const struct breaker_rule *rule, int64_t now, int64_t *ret_seen);
void breaker_answered(struct breaker *breaker, int64_t seen);
/* Returns whether this failure opened the breaker. */
bool breaker_failed(struct breaker *breaker, const struct breaker_rule *rule, int64_t seen, int64_t now);
/* Returns the time until a probe is due; -1: closed. */
int64_t breaker_wait_ns(const struct breaker *breaker, int64_t now);

#endif

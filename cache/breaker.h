/* SPDX-License-Identifier: MIT */
/*
 * breaker: a circuit breaker for a server that may not answer (docs/DESIGN.md G2, G5)
 *
 *     closed --`failures` failed requests in a row--> open for a pause --pause over--> half-open: one probe
 *       ^                                                  ^                               |
 *       |                                                  `--- fails: pause doubles ------+
 *       `-------------------------------- succeeds ----------------------------------------'
 *
 * Closed: requests are allowed. Open: they are refused. The first pause is `first_ns`; each failed probe doubles it, up
 * to `longest_ns`. The actual pause is chosen at random between half of that and all of it, so that processes that lost
 * a server at the same time do not probe it at the same time.
 *
 * Calling sequence: breaker_ask(); the request to the server; then breaker_answered() or breaker_failed() with the
 * `seen` that breaker_ask() returned. `seen` distinguishes the probe from requests that began before the breaker
 * opened: those neither extend the pause nor close the breaker. breaker_allows() is for messages without an answer.
 * breaker_wait_ns() is for callers that probe separately from their requests.
 * Threads: any. Fork: the child continues with a copy. Times: CLOCK_MONOTONIC in nanoseconds, above 0.
 */
#ifndef CACHE_BREAKER_H
#define CACHE_BREAKER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define BREAKER_PROBE_NS INT64_C(10000000000) /* a probe without a result is not repeated before this time */

struct breaker_rule {
	unsigned failures;
	int64_t first_ns;
	int64_t longest_ns;
};

/* A breaker whose bytes are all zero is closed. */
struct breaker {
	_Atomic int64_t until;     /* when the pause, or the time of a probe, ends; 0: closed */
	_Atomic int64_t pause;     /* the last pause, before the random reduction */
	_Atomic unsigned failures; /* failed requests in a row, while closed */
};

/* Returns whether the breaker is closed or a probe is due, without taking the probe. */
bool breaker_allows(const struct breaker *breaker, const struct breaker_rule *rule, int64_t now, int64_t *ret_seen);
/* Like breaker_allows(), and takes the probe if one is due, so that no other caller probes as well. */
bool breaker_ask(struct breaker *breaker, const struct breaker_rule *rule, int64_t now, int64_t *ret_seen);
/* Reports success: resets the count of failures, and closes the breaker if the request was the probe. */
void breaker_answered(struct breaker *breaker, int64_t seen);
/* Reports a failure. Returns whether it opened the breaker, or began another pause. */
bool breaker_failed(struct breaker *breaker, const struct breaker_rule *rule, int64_t seen, int64_t now);
/* Returns the nanoseconds until a probe is due (0: one is due now), or -1 if the breaker is closed. */
int64_t breaker_wait_ns(const struct breaker *breaker, int64_t now);

#endif

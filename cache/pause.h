/* SPDX-License-Identifier: MIT */
/*
 * pause: for how long an agent, or the agent's engine, is left alone after a failure (docs/DESIGN.md G2)
 *
 * After a failure nobody asks for `first_ns`, then one caller does. Unless that question succeeds, the next pause,
 * twice as long, up to `longest_ns`, begins with it. A random part of up to a half is taken off each pause, so that
 * processes that lost an agent at the same time do not ask it at the same time. A question that succeeds ends the
 * pauses, but not one that began later than the question.
 *
 * Calling sequence: pause_ask(); the question; pause_end() or pause_begin(). pause_is_over() is for messages without an
 * answer. Threads: any. Fork: the child continues with a copy. Times: CLOCK_MONOTONIC in nanoseconds, above 0.
 */
#ifndef CACHE_PAUSE_H
#define CACHE_PAUSE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* A pause of which only the two lengths are set has not begun. */
struct pause {
	int64_t first_ns, longest_ns;
	_Atomic int64_t since;  /* when the last pause began; 0: no failure since the last success */
	_Atomic int64_t length; /* of that pause, before the random reduction */
};

bool pause_is_over(const struct pause *pause, int64_t now);
/* Like pause_is_over(). If this is the question after a pause, the next pause begins, which other callers see. */
bool pause_ask(struct pause *pause, int64_t now);
/* A failure during a pause changes nothing. */
void pause_begin(struct pause *pause, int64_t now);
/* `asked`: when the question began that succeeded. */
void pause_end(struct pause *pause, int64_t asked);

#endif

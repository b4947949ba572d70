/* SPDX-License-Identifier: MIT */
/*
 * pause: for how long an agent, or the agent's engine, is left alone after a failure (docs/DESIGN.md G2)
 *
 * After a failure nobody asks for `first_ns`, then one caller does. If that question fails too, the next pause is twice
 * as long, up to `longest_ns`. A random part of up to a half is taken off each pause, so that processes that lost an
 * agent at the same time do not ask it at the same time. A question that succeeds ends the pauses.
 *
 * Calling sequence: pause_ask(); the question; pause_end() or pause_begin() with the `seen` of pause_ask(), by which a
 * question that began before the pause neither ends nor prolongs it. pause_is_over() is for messages without an answer.
 * Threads: any. Fork: the child continues with a copy. Times: CLOCK_MONOTONIC in nanoseconds, above 0.
 */
#ifndef CACHE_PAUSE_H
#define CACHE_PAUSE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* A pause of which only the two lengths are set has not begun. */
struct pause {
	int64_t first_ns, longest_ns;
	_Atomic int64_t until;  /* end of the pause, or of the time for the question after it; 0: none */
	_Atomic int64_t length; /* before the random reduction */
};

bool pause_is_over(const struct pause *pause, int64_t now, int64_t *ret_seen);
/* Like pause_is_over(), and keeps the other callers from asking too if this is the question after a pause. */
bool pause_ask(struct pause *pause, int64_t now, int64_t *ret_seen);
void pause_end(struct pause *pause, int64_t seen);
void pause_begin(struct pause *pause, int64_t seen, int64_t now);

#endif

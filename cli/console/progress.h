/* SPDX-License-Identifier: MIT */
/*
 * progress: shows the progress of long work in one line on standard error, and handles the signals that interrupt it
 *
 *     looking  81204 of 200000 entries
 *
 * The line is drawn only if standard error is a terminal, at most ten times a second.
 *
 * Calling sequence: interrupt_hold() if the work must clean up before the process ends; progress_show() at each step,
 * by the functions of cache/tools too; console_status("").
 *
 * Signals: after interrupt_hold() the first SIGHUP, SIGINT or SIGTERM is only noted: the work stops at its next step,
 * and interrupt_release() ends the process by that signal, so that a shell sees 130 for ^C. A second signal ends the
 * process at once. A signal that is ignored (nohup) stays ignored. Blocking system calls are interrupted and fail with
 * EINTR. Threads: one.
 */
#ifndef CLI_CONSOLE_PROGRESS_H
#define CLI_CONSOLE_PROGRESS_H

#include "cache/calls.h"

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/*
 * Draws the line, unless one with the same `doing` was drawn less than 0.1 s ago. `whole` may be an estimate; 0: the
 * number of entries is not known. Returns whether a signal has arrived, so that the work should stop. It is a
 * store_progress.
 */
bool progress_show(const char *doing, uint64_t done, uint64_t whole);

/* Returns the time of the monotonic clock in nanoseconds. */
static inline int64_t progress_clock(void)
{
	return call_clock_ns(CLOCK_MONOTONIC);
}

/* Defers the first signal until interrupt_release(). The work finds it with interrupt_seen(). */
void interrupt_hold(void);
/* Returns the number of the signal that arrived since interrupt_hold(); 0: none. */
int interrupt_seen(void);
/* Ends the hold. If a signal was noted, flushes stdout and ends the process by that signal. */
void interrupt_release(void);

#endif

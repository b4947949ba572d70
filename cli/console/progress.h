/* SPDX-License-Identifier: MIT */
/*
 * progress: shows the progress of long work in one line on standard error, and handles the signals that interrupt it
 *
 *     pruning  81204 of 200000 entries
 *
 * The line is drawn only if standard error is a terminal and the command is in its foreground, at most ten times a
 * second.
 *
 * Calling sequence: interrupt_hold() if the work must clean up before the process ends; progress_begin(),
 * progress_show() at each step, console_status(""). For a function of cache/tools, pass it progress_chore() instead,
 * and call console_status("") afterwards.
 *
 * Signals: after interrupt_hold() the first SIGHUP, SIGINT or SIGTERM is only noted: the work stops at its next step,
 * and interrupt_release() ends the process by that signal, so that a shell sees 130 for ^C. A second signal ends the
 * process at once. A signal that is ignored (nohup) stays ignored. Blocking system calls are interrupted and fail with
 * EINTR. Threads: one.
 */
#ifndef CLI_CONSOLE_PROGRESS_H
#define CLI_CONSOLE_PROGRESS_H

#include "cache/calls.h"
#include "cache/tools/chore.h"

#include <stdint.h>
#include <time.h>

/* `doing` begins the line and must stay valid until the last progress_show(). */
void progress_begin(const char *doing);
/*
 * Draws the line, unless it was drawn less than 0.1 s ago. `whole` may be an estimate; 0: the number of entries is not
 * known.
 */
void progress_show(uint64_t done, uint64_t whole);

/*
 * Returns a chore that draws the progress line and stops the work after a signal. It is static memory and valid until
 * the next call.
 */
struct chore *progress_chore(void);

/* Returns the time of the monotonic clock in nanoseconds. */
static inline int64_t progress_clock(void)
{
	return call_clock_ns(CLOCK_MONOTONIC);
}

/* Defers the first signal until interrupt_release(). The work finds it with interrupt_seen(). */
void interrupt_hold(void);
/* Returns the number of the signal that arrived since interrupt_hold(); 0: none. */
int interrupt_seen(void);
/* Discards the noted signal, for work that users end with a signal as a rule. */
void interrupt_forget(void);
/* Ends the hold. If a signal was noted, flushes stdout and ends the process by that signal. */
void interrupt_release(void);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * progress: how far long work is, in one line on standard error, and the signals that interrupt it
 *
 *     pruning  [#######.....]  81,204 of 200,000 entries  3 s left
 *
 * The line is drawn only if standard error is a terminal of which the command has the foreground, ten times a second at
 * most, and is narrower than the window at that moment: the bar is left out first, then the time. Where TERM is missing
 * or "dumb", or NO_COLOR is set, it is text without escape sequences.
 *
 * Calling sequence: interrupt_hold() if the work must first put something in order; progress_begin(), progress_show()
 * at each step, progress_end(). For work of cache/tools: progress_chore() instead, handed to the call, and
 * progress_end(). progress_wipe() before anything else is printed; console_error() does it.
 *
 * Signals: SIGHUP, SIGINT and SIGTERM wipe the line and end the process as they would without a handler, so that a
 * shell sees 130 for ^C. After interrupt_hold() the first one is only noted: the work stops at its next step, and
 * interrupt_release() ends the process. A second one ends it at once. A signal that is ignored (nohup) stays ignored.
 * System calls that wait are interrupted (EINTR). Threads: one.
 */
#ifndef CLI_CONSOLE_PROGRESS_H
#define CLI_CONSOLE_PROGRESS_H

#include "cache/tools/chore.h"

#include <stdint.h>

/* Whether `whole` is the number of entries, or an estimate; 0: not known. */
enum progress_sum { PROGRESS_KNOWN, PROGRESS_ESTIMATED };

void progress_begin(const char *doing);
void progress_show(uint64_t done, uint64_t whole, enum progress_sum sum);
void progress_end(void);
void progress_wipe(void);

/* Shows the work by two names, and stops it when a signal has come. It lives until the next call. */
struct chore *progress_chore(const char *looking, const char *working);

/* Nanoseconds of the monotonic clock. */
int64_t progress_clock(void);

void interrupt_hold(void);
/* The number of the signal that has come since interrupt_hold(); 0: none. */
int interrupt_seen(void);
/* Forgets a signal that has come: it was the usual way to end the work. */
void interrupt_forget(void);
/* Writes out what was printed and ends the process if a signal has come. */
void interrupt_release(void);

#endif

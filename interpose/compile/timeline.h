/* SPDX-License-Identifier: MIT */
/*
 * timeline: every call of a process in time, for chrome://tracing, Perfetto or `nvrtccache report` (NVRTCCACHE_TRACE)
 *
 * Purpose: appends one complete event ("ph":"X") per call that makes something to a file that all processes of a run may
 * share. Each event is a line of its own, written by one write(2), with a comma at its end. A regular file begins with
 * the bracket of a JSON array, which nobody closes, as the trace-event format allows; a pipe or a terminal gets the lines
 * alone. An event that was cut (its process was killed, the disk was full) is removed before the next one is written; a
 * file that begins or ends otherwise holds something else, and is left alone.
 *
 * A slice is named by its program, and its category ("cat") is how it ended: EVENT_KINDS (event.h), or "wait" and
 * "agent", which lie inside another's, for the time that the call waited for another process or thread that compiles the
 * same, and for the node's agent. "args": key, compiler, version, arch, options (one text, cut where it is long), reason
 * and detail where there are any, bytes of the result, cost (of the real compile, in ns), wait (ns), result (the return
 * code). Before a process's first slice stands its name (an event "process_name", "ph":"M"). Bytes that are not UTF-8
 * show as U+FFFD.
 *
 * Calling sequence: timeline_open() once from the run time's set-up; timeline_write() after each call, if
 * timeline_wanted(). The file is opened and closed for each event.
 * Threads: any. Fork: no state but two words. Signals: no. Errors: an event that cannot be written is lost.
 * Ownership: `path` must live for ever.
 */
#ifndef INTERPOSE_COMPILE_TIMELINE_H
#define INTERPOSE_COMPILE_TIMELINE_H

#include <stdbool.h>

struct event;

/* path NULL: nothing is written. */
void timeline_open(const char *path);
bool timeline_wanted(void);
/* errno is not kept. */
void timeline_write(const struct event *event);

#endif

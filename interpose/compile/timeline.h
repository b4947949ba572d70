/* SPDX-License-Identifier: MIT */
/*
 * timeline: every call of a process in time, for chrome://tracing, Perfetto or `nvrtccache report` (NVRTCCACHE_TRACE)
 *
 * Purpose: one complete event ("ph":"X") per call that makes something, added to a file that all processes of a run may
 * share: a JSON array that is whole after each event. What is no regular file gets one event after the other, without
 * brackets. A file with something else in it is left alone.
 *
 * A slice is named by its program, and its category ("cat") is how it ended: EVENT_KINDS (event.h), or "wait", which lies
 * inside another's, for another process or thread that compiles the same. "args": key, compiler, version, arch, options
 * (one text, cut where it is long), reason and detail where there are any, bytes of the result, cost (of the real
 * compile, in ns), wait (ns), result (the return code).
 * Before a process's first slice stands its name (an event "process_name", "ph":"M"). Bytes that are not UTF-8 show as
 * U+FFFD.
 *
 * Calling sequence: timeline_open() once from the run time's set-up; timeline_write() after each
 * call, if timeline_wanted().
 * Threads: any. Fork: no state but one pointer. Signals: no. Errors: an event that cannot be written is lost. Ownership: `path` must live for ever. The file is opened and closed for each event.
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

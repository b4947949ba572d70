/* SPDX-License-Identifier: MIT */
/*
 * timeline: a trace of all calls that compile, for chrome://tracing, Perfetto or `nvrtccache report`
 * (NVRTCCACHE_TRACE)
 *
 * Purpose: appends one complete event ("ph":"X") per call to a file that all processes of a run may share. Each event
 * is a line, written by one write(2), with a comma at its end. A regular file starts with the bracket of a JSON array,
 * which is never closed, as the trace-event format allows; a pipe or a terminal gets only the lines. An incomplete
 * event (its process was killed, the disk was full) is removed before the next one is written. A file that starts or
 * ends otherwise is not a trace, and is not changed.
 *
 * A slice has the name of its program. Its category ("cat") is the outcome (outcomes[] in views.c). A slice "wait" or
 * "agent" is nested in another slice: the time for which the call waited for another process or thread that compiles
 * the same, or for the node's agent. "args": key, compiler, version, arch, options (one text, truncated), reason and
 * detail if there are any, bytes of the result, cost (of the real compilation, in ns), wait (ns), result (the return
 * code). The name of a process (an event "process_name", "ph":"M") precedes its first slice. Bytes that are not UTF-8
 * appear as U+FFFD.
 *
 * Calling sequence: timeline_write() after each call. The file is opened and closed for each event. Threads: any. Fork:
 * the state is one word. Signals: no. Errors: an event that cannot be written is lost.
 */
#ifndef INTERPOSE_COMPILE_TIMELINE_H
#define INTERPOSE_COMPILE_TIMELINE_H

struct event;

/* errno may change. */
void timeline_write(const char *path, const struct event *event, const char *category);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * events: a time line of compiles and hits, for chrome://tracing or Perfetto (NVRTCCACHE_TRACE)
 *
 * Purpose: one complete event ("ph":"X") per compile call, with how it ended, added to a file that all processes of a
 * run may share: a JSON array that is whole after each event. What is no regular file gets one event after the other,
 * without brackets. A file with something else in it is left alone.
 *
 * Calling sequence: events_open() once from the run time's set-up; events_write() after each compile call.
 * Threads: any. Fork: no state but one pointer. Signals: no. Errors: an event that cannot be written is lost. errno
 * kept. Ownership: `path` must live for ever. The file is opened and closed for each event.
 */
#ifndef INTERPOSE_COMPILE_EVENTS_H
#define INTERPOSE_COMPILE_EVENTS_H

#include <stdint.h>

/* path NULL: nothing is written. */
void events_open(const char *path);
/* `compiler` and `how` are our own words: "nvrtc", "hit in memory", ...; `name` is the program's, any bytes. */
void events_write(const char *compiler, const char *how, const char *name, int64_t start_ns, int64_t end_ns,
                  int return_code);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * views: writes one event to the counters, the record, the log and the trace
 *
 * Calling sequence: event_count_work() before a bypassed compile and after a miss; event_tell() at the end of a call,
 * with the event's `about` filled in if event_tells_misses() or event_tells_hits() says that it will be used. Threads:
 * any. Fork, signals: as for the files that are written. Errors: what cannot be written is lost. errno does not change.
 */
#ifndef INTERPOSE_COMPILE_VIEWS_H
#define INTERPOSE_COMPILE_VIEWS_H

#include "interpose/compile/event.h"

/* Return true if event_tell() will write the request of a call that was not a hit, or of any call. */
bool event_tells_misses(void);
bool event_tells_hits(void);
/*
 * Counts a bypass before the compiler runs, or a miss after the compilation. This is not part of event_tell(), because
 * the process may exit or fork before the call ends.
 */
void event_count_work(const struct event *event);
/* Counts the outcome, writes the event, and frees its `about`. */
void event_tell(struct event *event, int return_code);

#endif

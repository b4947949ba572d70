/* SPDX-License-Identifier: MIT */
/*
 * views: writes one event to the counters, the record, the log and the trace
 *
 * Calling sequence: event_bypass() before a bypassed call, event_count_miss() after a miss was compiled; event_tell()
 * at the end of a call, with the event's `about` filled in if event_needs_about() says so. Threads: any. Fork, signals:
 * as for the files that are written. Errors: what cannot be written is lost. errno does not change.
 */
#ifndef INTERPOSE_COMPILE_VIEWS_H
#define INTERPOSE_COMPILE_VIEWS_H

#include "interpose/compile/event.h"

/*
 * Returns the record of a miss or a bypass that ended at `when_ns`; its texts are the event's. If the request (`about`)
 * has no room, its last facts are left out.
 */
struct events_record *event_record(struct event *event, uint64_t when_ns);
/* Returns true if event_tell() will write the request (`about`), which the caller then fills in. */
bool event_needs_about(const struct event *event);
/*
 * Records the outcome, and counts the bypass; the compiler runs afterwards. Neither this count nor that of a miss is
 * part of event_tell(), because the process may exit or fork before the call ends.
 */
void event_bypass(struct event *event, enum counter reason);
/* Counts a miss, after the compilation. */
void event_count_miss(const struct event *event);
/* Counts the outcome, writes the event, and frees its `about`. */
void event_tell(struct event *event, int return_code);

#endif

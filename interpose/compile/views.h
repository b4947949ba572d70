/* SPDX-License-Identifier: MIT */
/*
 * views: the counters, the log's line, the trace's slice and the journal's record, all made from one event
 *
 * Calling sequence: event_count_work() of what is no hit; event_tell() at a call's end, with the event's `about` filled in if one of event_tells_misses() and
 * event_tells_hits() says that it is wanted. Threads: any. Fork, signals: as of the files that are written. Errors: what
 * cannot be written is lost. errno is kept.
 */
#ifndef INTERPOSE_COMPILE_VIEWS_H
#define INTERPOSE_COMPILE_VIEWS_H

#include "interpose/compile/event.h"

/* Will somebody be told what was asked for in a call that was no hit? In one that was? */
bool event_tells_misses(void);
bool event_tells_hits(void);
/*
 * Counts a call for which the compiler works: one that is passed through before that, a miss behind it. At once, as the
 * process may end, or fork, before the call does.
 */
void event_count_work(const struct event *event);
/* Counts how it ended, writes it wherever it is to be told, and frees what it holds. */
void event_tell(struct event *event, int return_code);

#endif

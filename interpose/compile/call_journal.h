/* SPDX-License-Identifier: MIT */
/*
 * call_journal: a record in the cache directory's journal for each call that was no hit (cache/journal.h)
 *
 * Calling sequence: call_journal_wanted() before one goes to the length of describing a call for it alone;
 * call_journal_write() at the call's end, once the counts are written, by which a missing directory is made.
 * Threads, fork, signals: as of cache/journal.h. Errors: what cannot be written is lost. errno kept.
 */
#ifndef INTERPOSE_COMPILE_CALL_JOURNAL_H
#define INTERPOSE_COMPILE_CALL_JOURNAL_H

#include <stdbool.h>

struct event;

/* Is there a directory that may be written? */
bool call_journal_wanted(void);
/* Nothing of an event that does not say what was asked for: a hit's does not. */
void call_journal_write(const struct event *event);

#endif

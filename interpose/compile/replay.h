/* SPDX-License-Identifier: MIT */
/*
 * replay: the real handle catches up with what the host was served (docs/DESIGN.md B8)
 *
 *     served --replay()--> real      the compiler would see what it saw when those results were made: it does again
 *        |   \--replay()--> detached  it would not (a header was edited, the directory changed): the real one stays
 *        |                           as created, and the entry answers for what lasts over compiles
 *        '--replay_all()--> real     a function that we do not know wants the real one, whatever it then holds
 *     detached --replay_take_back()--> served    the library refused the call without doing anything
 *
 * That is where calls leave things in the handle. Where they are steps of one piece of work (PAST_GROWS), the real one
 * always catches up, and what comes next is not kept if it was told otherwise than the host; where they have nothing to
 * do with one another (PAST_IS_NOTHING), there is nothing to catch up with, and the compiler's record knows which entry
 * answers for what an earlier one made. replay_unchanged() is for what changes what a call would then do.
 *
 * Over compiles of one handle everything lasts but PTX and log: a product until the next of its kind is made, lowered
 * names until the next success. On the detached handle nothing was ever compiled, so what it has is of later compiles
 * and what it lacks is the entry's.
 *
 * Calling sequence: replay() before a real compile of a handle that may be served.
 * Threads: those of the handle. Errors: none; see replay().
 */
#ifndef INTERPOSE_COMPILE_REPLAY_H
#define INTERPOSE_COMPILE_REPLAY_H

#include "interpose/compile/handle.h"

/* False: the real program does not hold what the host was served, so what comes next must not be kept. */
bool replay(struct handle *handle);
/*
 * May the host be served this entry? A program that was compiled for real has products of its own and cannot rest: none
 * that a file's change would make stale.
 */
bool replay_allows(const struct handle *handle, const struct entry *entry);
void replay_all(struct handle *handle);
/* Makes up for all that is owed, if that gives what the host was told. False: it does not. */
bool replay_unchanged(struct handle *handle);
void replay_take_back(struct handle *handle);

#endif

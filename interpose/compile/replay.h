/* SPDX-License-Identifier: MIT */
/*
 * replay: performs on the real handle the calls that cache hits have deferred (docs/DESIGN.md B8)
 *
 *     served --replay()--> real      the compiler sees what it saw when the entries were made, so it is run again
 *        |   \--replay()--> detached  it would not (a header was edited, the directory changed): the real handle stays
 *        |                           as created, and the entry answers for what outlasts a compile
 *        '--replay_all()--> real     an unknown function needs the real handle, whatever it then holds
 *     detached --replay_take_back()--> served    the library refused the call without doing anything
 *
 * That is with PAST_LEAVES. With PAST_GROWS the deferred steps are always performed, and later results are not cached
 * if one of them answered otherwise than the host was told. With PAST_IS_NOTHING nothing needs to be performed, and the
 * compiler's record knows which entry answers for an earlier call.
 *
 * Everything outlasts a later compile of the handle except PTX and log: a product until the next one of its kind,
 * lowered names until the next success. A detached handle was never compiled, so its products are those of later
 * compiles, and the entry answers for those that it lacks.
 *
 * Calling sequence: replay() before a real compile of a handle that may be served.
 * Threads: those of the handle. Errors: none; see replay().
 */
#ifndef INTERPOSE_COMPILE_REPLAY_H
#define INTERPOSE_COMPILE_REPLAY_H

#include "interpose/compile/handle.h"

/* False: the real handle does not hold what the host was served, so the next result must not be cached. */
bool replay(struct handle *handle);
/*
 * Whether the host may be served the entry. A handle that was compiled for real cannot become detached, so it is served
 * no entry that could become stale by the change of a file.
 */
bool replay_allows(const struct handle *handle, const struct entry *entry);
void replay_all(struct handle *handle);
/* Performs the deferred calls if nothing that they depend on has changed. False: it has, or they answered otherwise. */
bool replay_unchanged(struct handle *handle);
void replay_take_back(struct handle *handle);

#endif

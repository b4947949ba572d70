/* SPDX-License-Identifier: MIT */
/*
 * replay: performs on the real handle the calls that cache hits have deferred (docs/DESIGN.md)
 *
 *     served --replay()--> real      the compiler still gets the input of the entries, so the calls are performed
 *        |   \--replay()--> detached  the input has changed (a header was edited, the directory changed): the handle
 *        |                           stays as created, and the entry answers for what outlasts a compile
 *        '--replay_all()--> real     an unknown function needs the real handle, whatever the real handle then contains
 *     detached --replay_take_back()--> served    the library refused the call without doing anything
 *
 * That is with PAST_LEAVES. With PAST_GROWS the deferred steps are always performed, and later results are not cached
 * if a step returned another code than the host got from the cache. With PAST_IS_NOTHING nothing needs to be performed,
 * and the compiler's record knows which entry answers for an earlier call.
 *
 * Everything except PTX and log outlasts a later compile of the handle: a product until the next one of its kind,
 * lowered names until the next success. A detached handle was never compiled, so the real handle has only the products
 * of later compiles, and the entry answers for the rest.
 *
 * Calling sequence: replay() before a real compile of a handle that may have been served.
 * Threads: those of the handle. Errors: none; see replay().
 */
#ifndef INTERPOSE_COMPILE_REPLAY_H
#define INTERPOSE_COMPILE_REPLAY_H

#include "interpose/compile/event.h"
#include "interpose/compile/handle.h"

/*
 * Performs the deferred calls, or detaches the handle. Returns false if the real handle does not hold what the host was
 * served, so that the next result must not be cached.
 */
bool replay(struct handle *handle);
/*
 * Returns true if the host may be served the entry, and the call performed later; otherwise the event says why not. A
 * handle that was compiled for real is served no entry that depends on files, which may change.
 */
bool replay_allows(const struct handle *handle, const struct call *call, const struct entry *entry,
                   struct event *event);
/*
 * Performs the deferred calls, without checking whether the input has changed. False: a call returned another code than
 * the cache.
 */
bool replay_all(struct handle *handle);
/*
 * Performs the deferred calls if nothing that they depend on has changed. False: something has, or a call returned
 * another code.
 */
bool replay_if_unchanged(struct handle *handle);
/* Undoes the detaching of a handle whose first real call the library refused. */
void replay_take_back(struct handle *handle);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * observe: runs the real compilation, and records what it reads
 *
 * Calling sequence: observe_compile() after a miss, once per attempt; on a hit observe_callback() in its place, if the
 * host has a callback. Threads, signals: the host's code runs inside. Errors: what could not be observed is recorded as
 * `doubt`.
 */
#ifndef INTERPOSE_COMPILE_OBSERVE_H
#define INTERPOSE_COMPILE_OBSERVE_H

#include "interpose/compile/attempt.h"

/*
 * Runs the real compilation under the watch, on the host's thread and with its state. The thread can be cancelled
 * there; a cleanup handler then frees the attempt and drops the reference to `held`. `doubt`: why the result must not
 * be cached, if known.
 */
void observe_compile(struct handle *handle, const struct call *call, enum counter doubt, struct attempt *attempt,
                     struct entry *held);
/*
 * Calls the host's callback in the same thread state as the real compilation. Returns true if the callback stops the
 * compilation.
 */
bool observe_callback(struct handle *handle, struct attempt *attempt, struct entry *held);

#endif

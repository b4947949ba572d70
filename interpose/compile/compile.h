/* SPDX-License-Identifier: MIT */
/*
 * compile: the steps of one call that compiles, such as nvrtcCompileProgram (docs/DESIGN.md)
 *
 *      1 bypass_reason()       may the call be cached? If not, bypass_call() runs only the real compilation
 *      2 request_describe()    builds the key
 *      3 look_up()             searches memory, directory, lower caches
 *      4 wait_for_others()     on a miss: waits for another compilation of the same key; then 2 and 3 again
 *      5 fetch_from_agent()    still a miss: asks the node's agent; then 2 and 3 again
 *      6 replay_allows()       may this host be served the entry?
 *      7 handle_note_served()  on a hit: getters answer from the entry
 *      8 replay()              on a miss: performs the deferred calls on the real handle
 *      9 attempt_compile()     runs the real compilation under the watch
 *     10 admit_result()        caches the result, or reports why it is not cached
 *     11 handle_note_done()    records the call in the handle's history
 *     12 event_tell()          writes record, log, trace
 *
 * Calling sequence: compile_call() for a known handle. Returns the code for the host.
 * Threads: any number at once, on different handles. No mutex is held during a real compilation or a file access.
 * Fork: the compilation changes no state of this file except the handle's own record. Errors: none reach the host.
 */
#ifndef INTERPOSE_COMPILE_COMPILE_H
#define INTERPOSE_COMPILE_COMPILE_H

#include "interpose/compile/handle.h"

int compile_call(struct handle *handle, const struct call *call);

#endif

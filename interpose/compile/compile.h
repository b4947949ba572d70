/* SPDX-License-Identifier: MIT */
/*
 * compile: the steps of one call that compiles, such as nvrtcCompileProgram (docs/DESIGN.md B, D)
 *
 *      1 bypass_reason()      the call cannot be cached: bypass_call() runs the real compilation, and nothing else
 *      2 request_describe()   builds the key
 *      3 look_up()            memory, directory, lower caches
 *      4 wait_for_others()    a miss: waits for another compilation of the same key; then 2 and 3 again
 *      5 fetch_from_agent()   still a miss: asks the node's agent; then 2 and 3 again
 *      6 is_fit()             may this host be served the entry?
 *      7 note_served()        a hit: getters answer from the entry
 *      8 replay()             a miss: performs the deferred calls on the real handle
 *      9 observe_compile()    the real compilation, watched
 *     10 admit_result()       caches the result, or says why not
 *     11 note_done()          records the call in the handle's history
 *     12 event_tell()         counters, log, trace, journal
 *
 * Calling sequence: compile_call() for a known handle. Returns the code for the host.
 * Threads: any number at once, on different handles. No mutex is held during a real compilation or a file access.
 * Fork: nothing but the handle's own record is touched. Errors: none reach the host (A2).
 */
#ifndef INTERPOSE_COMPILE_COMPILE_H
#define INTERPOSE_COMPILE_COMPILE_H

#include "interpose/compile/handle.h"

int compile_call(struct handle *handle, const struct call *call);

#endif

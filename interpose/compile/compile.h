/* SPDX-License-Identifier: MIT */
/*
 * compile: the way of one call that makes something, such as nvrtcCompileProgram (docs/DESIGN.md B, D)
 *
 *      1 bypass_reason()      cannot it be cached at all? then bypass_call(): the real compile, and nothing else
 *      2 request_describe()   what is asked for, as a key
 *      3 look_up()            memory, directory, what lies below
 *      4 wait_for_others()    a miss: who compiles the same is waited for, and 2 and 3 are done again
 *      5 fetch_from_agent()   still a miss: the node's agent is asked, and 2 and 3 are done again
 *      6 is_fit()             may this host be given what holds?
 *      7 note_served()        a hit: getters answer from the entry
 *      8 replay()             a miss: the real handle catches up with what the host was served
 *      9 observe_compile()    the real compile, watched
 *     10 admit_result()       is kept, or not: why
 *     11 note_done()          what the handle has been through
 *     12 event_tell()         all who are told: counters, log, trace, journal
 *
 * Calling sequence: compile_call() for a handle that we know. It returns what the host gets.
 * Threads: any number at once, on different handles. No lock of ours is held during a real compile or a file access.
 * Fork: nothing but the handle's own record is touched. Errors: none reach the host (A2).
 */
#ifndef INTERPOSE_COMPILE_COMPILE_H
#define INTERPOSE_COMPILE_COMPILE_H

#include "interpose/compile/handle.h"

int compile_call(struct handle *handle, const struct call *call);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * prefix: the "@E@" before nvJitLink's messages on stderr
 *
 * The library has two states of the process by which it prints: "fatal" has the prefix after the first
 * nvJitLinkComplete, "error" after the first run of ptxas. A hit does neither, so that a later message would lack the
 * prefix which it has without the cache. Hits are noted, and before the next real call that may print, the states are
 * set by a scratch link: 0.5 ms for the first, 8 to 22 ms for the second (12.4 to 13.5), at most once each.
 *
 * Calling sequence: prefix_owe() at a hit; prefix_settle() before a real call that may print; prefix_set() with a real
 * call that sets a state itself. Threads: any; two that settle at once do it twice, which is harmless. Fork: the child
 * has the library's states and the notes. Signals: no lock is held. Errors: none; the prefix is then missing.
 */
#ifndef INTERPOSE_NVJITLINK_PREFIX_H
#define INTERPOSE_NVJITLINK_PREFIX_H

#include "interpose/compile/library.h"

/* A set. */
enum prefix_states { PREFIX_NONE = 0, PREFIX_FATAL = 2, PREFIX_ERROR = 4 };

/* In the library's `told`, beside the states that hits have spared and, PREFIX_SHIFT higher, those that are set. */
#define TOLD_UNCLEARED_OPTIONS 1
#define PREFIX_SHIFT           2

void prefix_owe(struct library *library, enum prefix_states states);
void prefix_set(struct library *library, enum prefix_states states);
/* Sets those of the states that hits have spared. errno may change; the thread is not cancelled in it. */
void prefix_settle(struct library *library, enum prefix_states states);

#endif

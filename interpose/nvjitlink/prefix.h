/* SPDX-License-Identifier: MIT */
/*
 * prefix: the "@E@" before nvJitLink's messages on stderr
 *
 * The library has two process-wide states that add the prefix: "fatal" messages have it after the first
 * nvJitLinkComplete, "error" messages after the first run of ptxas. A hit performs neither, so a later message would
 * lack the prefix that it has without the cache. Therefore hits are recorded, and before the next real call that may
 * print, a scratch link sets the states: this takes 0.5 ms for the first, 8 to 22 ms for the second (12.4 to 13.5), and
 * happens at most once for each.
 *
 * Calling sequence: prefix_skip() at a hit; prefix_settle() before a real call that may print; prefix_set() before or
 * after a real call that sets a state itself. Threads: any; two concurrent scratch links do no harm. Fork: the child
 * has the library's states and the records. Signals: no lock is held. Errors: none; if the scratch link fails, the
 * prefix is missing.
 */
#ifndef INTERPOSE_NVJITLINK_PREFIX_H
#define INTERPOSE_NVJITLINK_PREFIX_H

#include "interpose/compile/library.h"

/* A set of bits. */
enum prefix_states { PREFIX_NONE = 0, PREFIX_FATAL = 2, PREFIX_ERROR = 4 };

/* In the library's `told`: the states that hits skipped and, shifted by PREFIX_SHIFT, those that are set. */
#define TOLD_UNCLEARED_OPTIONS 1
#define PREFIX_SHIFT           2

void prefix_skip(struct library *library, enum prefix_states states);
void prefix_set(struct library *library, enum prefix_states states);
/*
 * Sets those of the states that hits skipped. errno may change. The thread cannot be cancelled during the scratch link.
 */
void prefix_settle(struct library *library, enum prefix_states states);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * fetch: the node's agent is asked for what a look-up missed, and told of what was stored (docs/DESIGN.md G2)
 *
 * Purpose: who is about to compile asks first, while it holds the key's compile lock, so that a node asks once; where
 * there is no such lock everybody asks. The agent writes the directory, so a process that only reads it may ask too. Not
 * asked: with NVRTCCACHE_RECACHE and NVRTCCACHE_VERIFY, which want the compiler's own work.
 *
 * Threads: any, on different attempts. Fork: as cache/agent.h. Signals: no. Errors: whatever fails is a compile.
 */
#ifndef INTERPOSE_COMPILE_FETCH_H
#define INTERPOSE_COMPILE_FETCH_H

#include "interpose/compile/attempt.h"

#include <stdbool.h>

/* After a miss, once an attempt. True: it has put something there, so look again, and fetch_judge_agent(). */
bool fetch_from_agent(struct attempt *attempt);
/*
 * What the last look found (NULL: nothing): whoever takes longer than the compiler, or finds what is not there, is left
 * alone. So is the agent that held up the process for whose result this one has waited: or each would have to learn that.
 */
void fetch_judge_agent(const struct attempt *attempt, const struct entry *entry);
/* The result of that key was stored. */
void fetch_tell_agent(const struct key *key);

#endif

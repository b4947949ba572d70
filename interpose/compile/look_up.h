/* SPDX-License-Identifier: MIT */
/*
 * look_up: finds the entry that answers a request: in memory, in the directory, below it, or by the node's agent
 *
 * Purpose: a thread that is about to compile asks the agent first, while it holds the key's compile lock, so that each
 * node asks once per key; without that lock every process asks. The agent writes to the directory, so a read-only
 * process may ask too. With NVRTCCACHE_RECACHE and NVRTCCACHE_VERIFY the agent is not asked, because they require the
 * real compiler's result.
 *
 * Threads: any, on different attempts. Fork: as in cache/agent_client.h. Signals: no. Errors: any failure means a real
 * compilation.
 */
#ifndef INTERPOSE_COMPILE_LOOK_UP_H
#define INTERPOSE_COMPILE_LOOK_UP_H

#include "interpose/compile/attempt.h"

/* Returns the entry that answers the request, with a reference, or NULL. The event then says why there is none. */
struct entry *look_up(const struct request *request, struct event *event, struct finding *ret_finding);

/*
 * Call after a miss, once per attempt. Returns true if the agent stored an entry: look up again, then call
 * fetch_judge_agent().
 */
bool fetch_from_agent(struct attempt *attempt);
/*
 * Weighs the wait for the agent against what the entry of the last look-up saves (NULL: nothing was found), and
 * likewise a wait for the result of another process (agent_weigh()).
 */
void fetch_judge_agent(const struct attempt *attempt, const struct entry *entry);

#endif

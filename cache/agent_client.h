/* SPDX-License-Identifier: MIT */
/*
 * agent_client: asks the node's agent for a result, and reports stored results to it (docs/DESIGN.md G1, G2)
 *
 *     connect --FETCH--> first answer within wait_ms/3 --STARTED--> answer within wait_ms --FOUND--> look up, weigh
 *        |                    |                                         |
 *        |                    `-- ABSENT, DOWN: not found               `-- ABSENT, DOWN: not found
 *        `-- not running, another user's agent, no answer in time, invalid answer: a failure
 *
 * The agent stores the entries that it fetches in the cache directory; no payload crosses the socket. After
 * AGENT_FETCH_FOUND the caller looks up the key in the directory again.
 *
 * After a failure the agent is not asked for 5 s, then 10 s, and so on up to five minutes (cache/pause.h). An answer
 * that took wait_ms/3 longer than it saved, or wait_ms together with those before, is a failure too. Stored results are
 * reported nevertheless, because that waits for nothing. So a dead, stopped or hung agent costs a process wait_ms/3
 * (100 ms by default), and again after each pause.
 *
 * Calling sequence: agent_fetch() after a miss. After AGENT_FETCH_FOUND, look up again and call agent_weigh(). After
 * store_put(), agent_stored(). If `said` is NULL, agent_fetch() and agent_stored() make no system call.
 * Errors: outcomes; errno is preserved. Threads: any. Signals: not from handlers; the host's handlers run while a call
 * waits. Cancellation: must be off, or the socket stays open. Fork: nothing to do. If
 * another thread forks during a question, the child has a copy of the socket (O_CLOEXEC) until it calls exec or exits.
 * State: the pause, and the sum of useless waits. Descriptors: closed before the call returns, unless the host has
 * closed them, because then the number may belong to a file of the host.
 */
#ifndef CACHE_AGENT_CLIENT_H
#define CACHE_AGENT_CLIENT_H

#include "cache/directory.h"
#include "cache/entry.h"

#include <stdint.h>

struct agent_options {
	const char *said; /* value of NVRTCCACHE_AGENT: a path, or "1"; NULL: there is no agent */
	struct directory directory;
	unsigned wait_ms; /* limit for the last answer; 0: only stored results are reported, and no question is asked */
};

/* X(NAME, words that continue "the agent"): the outcomes of a question. */
#define AGENT_OUTCOMES(X)                                             \
	X(NOT_ASKED, "was not asked")                                 \
	X(SKIPPED, "was not asked after a recent failure")            \
	X(FOUND, "has the entry")                                     \
	X(ABSENT, "has no entry")                                     \
	X(DOWN, "cannot reach its engine")                            \
	X(ELSEWHERE, "serves another directory")                      \
	X(NOBODY, "is not running")                                   \
	X(STRANGER, "belongs to another user")                        \
	X(BROKEN, "closed the connection, or sent an invalid answer") \
	X(TIMEOUT, "did not answer in time")

enum agent_outcome {
#define AGENT_OUTCOME(name, words) AGENT_FETCH_##name,
	AGENT_OUTCOMES(AGENT_OUTCOME)
#undef AGENT_OUTCOME
	    AGENT_OUTCOME_COUNT
};

/* Returns the words of an outcome, for the log, the trace and the command. */
const char *agent_outcome_words(enum agent_outcome outcome);

/* Asks the agent for `key` and waits for the answer. */
enum agent_outcome agent_fetch(const struct agent_options *options, const uint8_t key[ENTRY_KEY_BYTES]);
/*
 * Reports that the process waited `waited` nanoseconds for the agent, and that this spared it a compilation of `spared`
 * nanoseconds (0: none). AGENT_OVERHEARD: it waited for the result of another process, which may have asked the agent.
 * Otherwise each of several processes that start together would ask a hung agent, while the others wait for it.
 */
enum agent_wait { AGENT_ASKED, AGENT_OVERHEARD };
void agent_weigh(const struct agent_options *options, enum agent_wait whose, int64_t waited, uint64_t spared);
/* Reports a stored result with one message, and does not wait for an answer. */
void agent_stored(const struct agent_options *options, const uint8_t key[ENTRY_KEY_BYTES]);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * agent: asks the node's agent for a result, and reports stored results to it (docs/DESIGN.md G1, G2)
 *
 *     connect --FETCH--> first answer within wait_ms/3 --STARTED--> answer within wait_ms --FOUND--> look again, judge
 *        |                    |                                         |
 *        |                    `-- ABSENT, DOWN: not found               `-- ABSENT, DOWN: not found
 *        `-- nobody there, another user's agent, no answer in time, not an answer: a failure
 *
 * The agent puts what it fetches into the cache directory; no payload crosses the socket. After AGENT_FETCH_FOUND the
 * caller looks into the directory again.
 *
 * A failure opens the circuit breaker (cache/breaker.h): the agent is not asked for 5 s, then 10 s, and so on up to
 * five minutes. An answer that came later than wait_ms/3 and saved less time than it took counts as a failure too. So a
 * dead, stopped or hung agent costs a process wait_ms/3 (100 ms) once.
 *
 * Calling sequence: agent_fetch() after a miss. After AGENT_FETCH_FOUND, look again and call agent_judge(). After
 * store_put(), agent_stored(). If `said` is NULL, no function makes a system call.
 * Errors: outcomes; errno is kept. Threads: any. Signals: not from handlers; the host's handlers run while a call
 * waits. Cancellation: must be off, or the socket stays open. Fork: nothing to do. A child that another thread forks
 * during a question keeps that socket (O_CLOEXEC) until exec or exit.
 * State: the breaker. Descriptors: closed before the call returns, unless the host has closed them: then the number may
 * belong to a file of the host's.
 */
#ifndef CACHE_AGENT_H
#define CACHE_AGENT_H

#include "cache/directory.h"
#include "cache/entry.h"

#include <stdint.h>

struct agent_options {
	const char *said; /* NVRTCCACHE_AGENT: a path, or 1; NULL: there is none */
	struct directory directory;
	unsigned wait_ms; /* for the last answer; 0: stored results are reported, and nothing is asked */
};

/* X(NAME, word, in words): what came of a question. */
#define AGENT_OUTCOMES(X)                                                       \
	X(NOT_ASKED, "", "was not asked")                                       \
	X(SKIPPED, "skipped", "was not asked after a recent failure")           \
	X(FOUND, "found", "has the entry")                                      \
	X(ABSENT, "absent", "has no entry")                                     \
	X(DOWN, "down", "cannot reach its engine")                              \
	X(ELSEWHERE, "elsewhere", "serves another directory")                   \
	X(NOBODY, "nobody", "is not running")                                   \
	X(STRANGER, "stranger", "belongs to another user")                      \
	X(BROKEN, "broken", "closed the connection, or sent an invalid answer") \
	X(TIMEOUT, "timeout", "did not answer in time")

enum agent_outcome {
#define AGENT_OUTCOME(name, word, words) AGENT_FETCH_##name,
	AGENT_OUTCOMES(AGENT_OUTCOME)
#undef AGENT_OUTCOME
	    AGENT_OUTCOME_COUNT
};

/* "found", and "has the entry" for a sentence that begins with "the agent". */
const char *agent_outcome_name(enum agent_outcome outcome);
const char *agent_outcome_words(enum agent_outcome outcome);

/* What agent_judge() needs to know of a question. */
struct agent_question {
	int64_t seen;   /* of the breaker */
	int64_t waited; /* ns */
};

/* `ret_question` is written with AGENT_FETCH_FOUND only. */
enum agent_outcome agent_fetch(const struct agent_options *options, const uint8_t key[ENTRY_KEY_BYTES],
                               struct agent_question *ret_question);
/* `spared`: the time in nanoseconds that the compilation would have taken; 0: the call is compiled nevertheless. */
void agent_judge(const struct agent_options *options, const struct agent_question *question, uint64_t spared);
/*
 * This process waited for another process's result, and that one may have waited for the agent meanwhile. A wait that
 * is longer than the compilation by wait_ms/3 counts as a failure here too. Otherwise processes that start together
 * would find out about a hung agent one after the other, while the others wait.
 */
void agent_overheard(const struct agent_options *options, int64_t waited, uint64_t spared);
/* Reports a stored result by one message; no answer is awaited. */
void agent_stored(const struct agent_options *options, const uint8_t key[ENTRY_KEY_BYTES]);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * agent: asking the node's agent for a result, and telling it of one (docs/DESIGN.md G1, G2)
 *
 *     connected --FETCH--> asked --STARTED in a third of wait_ms--> at work --in all of it--> answered: FOUND: agent_judge()
 *        |                   `-- an answer at once --------------------------------------^     else: it did not help
 *        `-- nobody there, another user's, no answer in time, anything that is no answer: failed, which opens the
 *            breaker (cache/breaker.h): the agent is not asked for 5 s, then 10 s, ... up to 5 minutes
 *
 * Purpose: what another node compiled comes into the directory while this process waits for a moment. No payload comes
 * this way: after AGENT_FETCH_FOUND look into the directory again. An agent that is dead, stopped, hung or lying costs a
 * process one third of wait_ms (of 300 ms) once. Of one that answers in time, what is waited beyond the compiles that
 * its answers spare may come to wait_ms in all, then the breaker opens, too.
 *
 * Calling sequence: agent_fetch() after a miss; if it is AGENT_FETCH_FOUND, another look and agent_judge() with what came
 * of it (without that call nothing is held, and a probe is over by itself). agent_stored() after store_put(). Without
 * NVRTCCACHE_AGENT (said: NULL) neither makes a system call.
 * Errors: outcomes. errno is kept. Threads: any, on different keys or the same. Signals: not from handlers; those of
 * the host are let in while we wait. Cancellation: off, or the socket stays open. Fork: every question has a connection
 * of its own, so a child asks by new ones; agent_fork_child() closes those by which other threads of its parent asked.
 * State: the breaker, and the sockets in use. Descriptors: closed before the call returns, and only while they are
 * still the ones that were opened: hosts close descriptors that they do not know.
 */
#ifndef CACHE_AGENT_H
#define CACHE_AGENT_H

#include "cache/directory.h"
#include "cache/entry.h"

#include <stdint.h>

struct agent_options {
	const char *said; /* NVRTCCACHE_AGENT: a path, or 1; NULL: there is none */
	struct directory directory;
	unsigned wait_ms; /* in all; 0: it is told and never asked */
};

/* X(NAME, word, in words): what came of a question. */
#define AGENT_OUTCOMES(X)                                           \
	X(NOT_ASKED, "", "was not asked")                           \
	X(SKIPPED, "skipped", "was not asked, as it failed lately") \
	X(FOUND, "found", "has it")                                 \
	X(ABSENT, "absent", "has none")                             \
	X(DOWN, "down", "cannot ask its engine")                    \
	X(ELSEWHERE, "elsewhere", "serves another directory")       \
	X(NOBODY, "nobody", "does not live there")                  \
	X(STRANGER, "stranger", "is another user's")                \
	X(BROKEN, "broken", "hung up, or said what is no answer")   \
	X(TIMEOUT, "timeout", "gave no sign of life, or no answer, in time")

enum agent_outcome {
#define AGENT_OUTCOME(name, word, words) AGENT_FETCH_##name,
	AGENT_OUTCOMES(AGENT_OUTCOME)
#undef AGENT_OUTCOME
	    AGENT_OUTCOME_COUNT
};

/* "found", "has it": behind "the agent". */
const char *agent_outcome_name(enum agent_outcome outcome);
const char *agent_outcome_words(enum agent_outcome outcome);

/* What agent_judge() wants to know of a question. */
struct agent_question {
	int64_t seen;
	int64_t waited;
};

/* `ret_question` is written with AGENT_FETCH_FOUND alone. */
enum agent_outcome agent_fetch(const struct agent_options *options, const uint8_t key[ENTRY_KEY_BYTES],
                               struct agent_question *ret_question);
/* `spared`: nanoseconds that a compile would have taken; 0: it follows all the same. */
void agent_judge(const struct agent_options *options, const struct agent_question *question, uint64_t spared);
/*
 * The result of another process came after so long a wait, and the wait for the agent was part of it. Of processes that start
 * in step and want the same kernels each would otherwise learn by a wait of its own, while all others wait for it.
 */
void agent_overheard(const struct agent_options *options, int64_t waited, uint64_t spared);
/* One message, no answer: it may come to fetch the result, or may not. */
void agent_stored(const struct agent_options *options, const uint8_t key[ENTRY_KEY_BYTES]);
void agent_fork_child(void);

#endif

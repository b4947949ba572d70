/* SPDX-License-Identifier: MIT */
/*
 * agent: asking the node's agent for a result, and telling it of one (docs/DESIGN.md G1, G2)
 *
 *     connected --FETCH--> asked --STARTED in a third of wait_ms--> at work --in all of it--> answered: FOUND: agent_judge()
 *        |                   `-- an answer at once --------------------------------------^     else: it did not help
 *        `-- nobody there, somebody else's, no answer in time, anything that is no answer: failed, which closes the
 *            way for a while (cache/agent_breaker.h)
 *
 * Purpose: what another node compiled comes into the directory while this process waits for a moment. No payload comes
 * this way: after AGENT_FETCH_FOUND look into the directory again. An agent that is dead, stopped, hung or lying costs a
 * process one third of wait_ms (of 300 ms) once; one that answers in time and costs more than it spares, less than
 * twice wait_ms.
 *
 * Calling sequence: agent_fetch() after a miss; if it is AGENT_FETCH_FOUND, another look and agent_judge() with what came
 * of it (who does not come so far leaves it: nothing is held, and a probe is over by itself). agent_stored() after store_put(). Without NVRTCCACHE_AGENT (said: NULL)
 * neither makes a system call.
 * Errors: outcomes. errno is kept. Threads: any, on different keys or the same. Signals: not from handlers; those of
 * the host are let in while we wait. Cancellation: off, or the socket stays open. Fork: agent_fork_child() closes what
 * other threads of the parent were asking by.
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
#define AGENT_OUTCOMES(X)                                         \
	X(NOT_ASKED, "", "was not asked")                         \
	X(CLOSED, "closed", "was not asked, as it failed lately") \
	X(FOUND, "found", "has it")                               \
	X(ABSENT, "absent", "has none")                           \
	X(DOWN, "down", "cannot ask its engine")                  \
	X(ELSEWHERE, "elsewhere", "serves another directory")     \
	X(NOBODY, "nobody", "does not live there")                \
	X(STRANGER, "stranger", "is another user's")              \
	X(BROKEN, "broken", "hung up, or said what is no answer") \
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
	int64_t allowed;
};

/* `ret_question` is written with AGENT_FETCH_FOUND alone. */
enum agent_outcome agent_fetch(const struct agent_options *options, const uint8_t key[ENTRY_KEY_BYTES],
                               struct agent_question *ret_question);
/* `spared`: nanoseconds that a compile would have taken; 0: it follows all the same. */
void agent_judge(const struct agent_question *question, uint64_t spared);
/* What another process made came, after so long a wait for it: it had asked the agent first. */
void agent_overheard(const struct agent_options *options, int64_t waited, uint64_t spared);
/* One message, no answer: it may come to fetch the result, or may not. */
void agent_stored(const struct agent_options *options, const uint8_t key[ENTRY_KEY_BYTES]);
void agent_fork_child(void);

#endif

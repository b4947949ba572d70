/* SPDX-License-Identifier: MIT */
/*
 * breaker: when an engine is left alone, and when it is tried again (docs/DESIGN.md G5)
 *
 * It goes by rate: of the last questions of half a minute at least BREAKER_LEAST have failed, and half of all. Only a
 * failure to answer counts; a refusal or "not there" is an answer. Left alone, the engine is tried by one probe at a time,
 * after a random part of a time that doubles up to a minute: nodes that lost one engine together must not come back
 * together. One good probe ends it.
 *
 * Calling sequence: a struct of zeros; breaker_allows() before a question, breaker_note() after; breaker_probe() true:
 * whoever got that asks the engine and says breaker_probed(). Times are nanoseconds of one clock that does not jump; `random`
 * is any number. Threads: whoever calls holds a lock. Errors: none.
 */
#ifndef AGENT_BREAKER_H
#define AGENT_BREAKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BREAKER_WINDOW    16
#define BREAKER_WINDOW_NS (INT64_C(30) * 1000000000)
#define BREAKER_LEAST     4
#define BREAKER_FIRST_NS  (INT64_C(1) * 1000000000)
#define BREAKER_MOST_NS   (INT64_C(60) * 1000000000)
#define BREAKER_SOON_NS   (INT64_C(100) * 1000000)

enum breaker_state { BREAKER_CLOSED, BREAKER_OPEN, BREAKER_PROBING };
enum breaker_outcome { BREAKER_ANSWERED, BREAKER_FAILED };

struct breaker {
	enum breaker_state state;
	struct {
		int64_t when_ns;
		enum breaker_outcome outcome;
	} window[BREAKER_WINDOW];
	size_t count; /* that were ever noted since it closed */
	unsigned failed_probes;
	int64_t probe_ns;
};

bool breaker_allows(const struct breaker *breaker);
/* True: this has opened it. */
bool breaker_note(struct breaker *breaker, enum breaker_outcome outcome, int64_t now_ns, uint64_t random);
/* Is it time for a probe? Then it is the caller's, and nobody else's. */
bool breaker_probe(struct breaker *breaker, int64_t now_ns);
void breaker_probed(struct breaker *breaker, enum breaker_outcome outcome, int64_t now_ns, uint64_t random);
/* How long until a probe may be due; -1: none will be. */
int64_t breaker_wait_ns(const struct breaker *breaker, int64_t now_ns);

#endif

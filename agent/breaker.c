/* SPDX-License-Identifier: MIT */
/*
 * breaker
 *
 *   CLOSED --half of the last have failed--> OPEN --its time has come--> PROBING
 *      ^                                       ^                            |
 *      |                                       `---- failed: twice as long -+
 *      `------------------------------------------------------- answered ---'
 */
#include "agent/breaker.h"

#include <string.h>

bool breaker_allows(const struct breaker *breaker)
{
	return breaker->state == BREAKER_CLOSED;
}

static void open_for_a_while(struct breaker *breaker, int64_t now_ns, uint64_t random)
{
	int64_t most = BREAKER_FIRST_NS;

	for (unsigned i = 0; i < breaker->failed_probes && most < BREAKER_MOST_NS; i++) {
		most *= 2;
	}
	most = most < BREAKER_MOST_NS ? most : BREAKER_MOST_NS;
	breaker->state = BREAKER_OPEN;
	breaker->probe_ns = now_ns + BREAKER_SOON_NS + (int64_t)(random % (uint64_t)most);
}

static bool has_tripped(const struct breaker *breaker, int64_t now_ns)
{
	size_t held = breaker->count < BREAKER_WINDOW ? breaker->count : BREAKER_WINDOW;
	size_t recent = 0;
	size_t failed = 0;

	for (size_t i = 0; i < held; i++) {
		if (now_ns - breaker->window[i].when_ns < BREAKER_WINDOW_NS) {
			recent++;
			failed += breaker->window[i].outcome == BREAKER_FAILED;
		}
	}
	return failed >= BREAKER_LEAST && 2 * failed >= recent;
}

bool breaker_note(struct breaker *breaker, enum breaker_outcome outcome, int64_t now_ns, uint64_t random)
{
	if (breaker->state != BREAKER_CLOSED) {
		return false; /* asked before it opened */
	}
	breaker->window[breaker->count % BREAKER_WINDOW].when_ns = now_ns;
	breaker->window[breaker->count % BREAKER_WINDOW].outcome = outcome;
	breaker->count++;
	if (outcome == BREAKER_ANSWERED || !has_tripped(breaker, now_ns)) {
		return false;
	}
	open_for_a_while(breaker, now_ns, random);
	return true;
}

bool breaker_probe(struct breaker *breaker, int64_t now_ns)
{
	if (breaker->state != BREAKER_OPEN || now_ns < breaker->probe_ns) {
		return false;
	}
	breaker->state = BREAKER_PROBING;
	return true;
}

void breaker_probed(struct breaker *breaker, enum breaker_outcome outcome, int64_t now_ns, uint64_t random)
{
	if (breaker->state != BREAKER_PROBING) {
		return;
	}
	if (outcome == BREAKER_ANSWERED) {
		memset(breaker, 0, sizeof(*breaker));
		return;
	}
	breaker->failed_probes++;
	open_for_a_while(breaker, now_ns, random);
}

int64_t breaker_wait_ns(const struct breaker *breaker, int64_t now_ns)
{
	if (breaker->state != BREAKER_OPEN) {
		return -1;
	}
	return breaker->probe_ns > now_ns ? breaker->probe_ns - now_ns : 0;
}

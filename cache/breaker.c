/* SPDX-License-Identifier: MIT */
/*
 * `until` is the state: 0 means closed, a time means open until then. A probe sets it to a later time, and only the
 * thread whose compare-and-swap succeeds may probe.
 */
#include "cache/breaker.h"

bool breaker_allows(const struct breaker *breaker, const struct breaker_rule *rule, int64_t now, int64_t *ret_seen)
{
	int64_t until = atomic_load(&breaker->until);

	/* a process that moved to another time namespace may see an end years ahead; it is longer than any pause */
	if (until != 0 && now < until && until - now <= rule->longest_ns) {
		return false;
	}
	*ret_seen = until;
	return true;
}

bool breaker_ask(struct breaker *breaker, const struct breaker_rule *rule, int64_t now, int64_t *ret_seen)
{
	int64_t until;

	if (!breaker_allows(breaker, rule, now, &until)) {
		return false;
	}
	if (until != 0) {
		int64_t pause = atomic_load(&breaker->pause);
		int64_t later = now + (pause > BREAKER_PROBE_NS ? pause : BREAKER_PROBE_NS);

		/* half-open: only one of several threads gets the probe */
		if (!atomic_compare_exchange_strong(&breaker->until, &until, later)) {
			return false;
		}
		until = later;
	}
	*ret_seen = until;
	return true;
}

void breaker_answered(struct breaker *breaker, int64_t seen)
{
	atomic_store(&breaker->failures, 0);
	if (seen != 0) {
		(void)atomic_compare_exchange_strong(&breaker->until, &seen, 0);
	}
}

/* Processes and nodes read different nanoseconds from their clocks, so a hash of `now` serves as a random number. */
static int64_t draw_pause(int64_t pause, int64_t now)
{
	uint64_t drawn = (uint64_t)now * UINT64_C(0x9e3779b97f4a7c15) >> 33;

	return pause - (int64_t)(drawn % (uint64_t)(pause / 2 + 1));
}

bool breaker_failed(struct breaker *breaker, const struct breaker_rule *rule, int64_t seen, int64_t now)
{
	int64_t pause = seen == 0 ? rule->first_ns : 2 * atomic_load(&breaker->pause);

	if (seen == 0 && atomic_fetch_add(&breaker->failures, 1) + 1 < rule->failures) {
		return false;
	}
	if (atomic_load(&breaker->until) != seen) {
		return false; /* another request changed the state in the meantime */
	}
	pause = pause < rule->longest_ns ? pause : rule->longest_ns;
	/* stored before `until`, because the thread that takes the next probe reads the pause */
	atomic_store(&breaker->pause, pause);
	atomic_store(&breaker->failures, 0);
	return atomic_compare_exchange_strong(&breaker->until, &seen, now + draw_pause(pause, now));
}

int64_t breaker_wait_ns(const struct breaker *breaker, int64_t now)
{
	int64_t until = atomic_load(&breaker->until);

	if (until == 0) {
		return -1;
	}
	return until > now ? until - now : 0;
}

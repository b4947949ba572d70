/* SPDX-License-Identifier: MIT */
#include "cache/breaker.h"

bool breaker_allows(const struct breaker *breaker, const struct breaker_rule *rule, int64_t now, int64_t *ret_seen)
{
	int64_t until = atomic_load(&breaker->until);

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

		/* half-open: of those who come together one wins */
		if (!atomic_compare_exchange_strong(&breaker->until, &until, later)) {
			return false;
		}
		until = later;
	}
	*ret_seen = until;
	return true;
}

void breaker_answered(struct breaker *breaker, int64_t seen, int64_t now)
{
	atomic_store(&breaker->failures, 0);
	if (seen != 0 && atomic_compare_exchange_strong(&breaker->until, &seen, 0)) {
		atomic_store(&breaker->closed, now);
	}
}

static bool comes_and_goes(const struct breaker *breaker, int64_t now)
{
	int64_t closed = atomic_load(&breaker->closed);

	return closed != 0 && now - closed < BREAKER_STEADY * atomic_load(&breaker->pause);
}

/* Clocks of two processes and of two nodes do not agree on nanoseconds, so their bits are as good as random ones. */
static int64_t draw_pause(int64_t pause, int64_t now)
{
	uint64_t drawn = (uint64_t)now * UINT64_C(0x9e3779b97f4a7c15) >> 33;

	return pause - (int64_t)(drawn % (uint64_t)(pause / 2 + 1));
}

bool breaker_failed(struct breaker *breaker, const struct breaker_rule *rule, int64_t seen, int64_t now)
{
	int64_t pause = 2 * atomic_load(&breaker->pause);

	if (seen == 0 && atomic_fetch_add(&breaker->failures, 1) + 1 < rule->failures) {
		return false;
	}
	if (seen == 0 && !comes_and_goes(breaker, now)) {
		pause = rule->first_ns;
	}
	pause = pause < rule->longest_ns ? pause : rule->longest_ns;
	if (atomic_load(&breaker->until) != seen) {
		return false; /* another question has opened it meanwhile */
	}
	/* before the breaker opens: the thread that probes reads it */
	atomic_store(&breaker->pause, pause);
	atomic_store(&breaker->failures, 0);
	atomic_store(&breaker->wasted, 0);
	return atomic_compare_exchange_strong(&breaker->until, &seen, now + draw_pause(pause, now));
}

void breaker_wasted(struct breaker *breaker, const struct breaker_rule *rule, int64_t seen, int64_t waited, int64_t now)
{
	if (waited < BREAKER_SMALL_NS) {
		breaker_answered(breaker, seen, now);
	} else if (seen != 0 || atomic_fetch_add(&breaker->wasted, waited) + waited > rule->budget_ns) {
		(void)breaker_failed(breaker, rule, seen, now);
	}
}

int64_t breaker_wait_ns(const struct breaker *breaker, int64_t now)
{
	int64_t until = atomic_load(&breaker->until);

	if (until == 0) {
		return -1;
	}
	return until > now ? until - now : 0;
}

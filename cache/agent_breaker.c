/* SPDX-License-Identifier: MIT */
#include "cache/agent_breaker.h"

static bool is_closed(int64_t until, int64_t now)
{
	return until != 0 && now < until && until - now <= AGENT_REST_MAX;
}

bool agent_breaker_tell(const struct agent_breaker *breaker, int64_t now, int64_t *ret_seen)
{
	int64_t until = atomic_load(&breaker->until);

	if (is_closed(until, now)) {
		return false;
	}
	*ret_seen = until;
	return true;
}

bool agent_breaker_ask(struct agent_breaker *breaker, int64_t now, int64_t *ret_seen)
{
	int64_t until;

	if (!agent_breaker_tell(breaker, now, &until)) {
		return false;
	}
	if (until != 0) {
		int64_t later = now + atomic_load(&breaker->rest);

		if (!atomic_compare_exchange_strong(&breaker->until, &until, later)) {
			return false;
		}
		until = later;
	}
	*ret_seen = until;
	return true;
}

static void open_way(struct agent_breaker *breaker, int64_t seen, int64_t now)
{
	if (seen != 0 && atomic_compare_exchange_strong(&breaker->until, &seen, 0)) {
		atomic_store(&breaker->opened, now);
	}
}

/* What fails now was not open for long. */
static bool comes_and_goes(const struct agent_breaker *breaker, int64_t rest, int64_t now)
{
	int64_t opened = atomic_load(&breaker->opened);

	return opened != 0 && now - opened < AGENT_STEADY * rest;
}

void agent_breaker_failed(struct agent_breaker *breaker, int64_t seen, int64_t now)
{
	int64_t rest = 2 * atomic_load(&breaker->rest);

	if (seen == 0 && !comes_and_goes(breaker, rest / 2, now)) {
		rest = AGENT_REST_FIRST;
	}
	rest = rest > AGENT_REST_MAX ? AGENT_REST_MAX : rest;
	/* before the way is closed by it: whoever probes then reads it */
	if (atomic_load(&breaker->until) == seen) {
		atomic_store(&breaker->rest, rest);
		(void)atomic_compare_exchange_strong(&breaker->until, &seen, now + rest);
	}
}

static void pay(struct agent_breaker *breaker, int64_t gained)
{
	int64_t wasted = atomic_load(&breaker->wasted);

	while (!atomic_compare_exchange_weak(&breaker->wasted, &wasted, wasted > gained ? wasted - gained : 0)) {
	}
}

static int64_t lost_by(const struct agent_answer *answer)
{
	return answer->waited - (answer->spared < AGENT_SPARED_MAX ? (int64_t)answer->spared : AGENT_SPARED_MAX);
}

static void lose(struct agent_breaker *breaker, int64_t seen, int64_t lost, int64_t allowed, int64_t now)
{
	bool is_probe = seen != 0;

	if (is_probe || atomic_fetch_add(&breaker->wasted, lost) + lost > allowed) {
		atomic_store(&breaker->wasted, 0); /* the rest pays for it */
		agent_breaker_failed(breaker, seen, now);
	}
}

void agent_breaker_answered(struct agent_breaker *breaker, int64_t seen, const struct agent_answer *answer, int64_t now)
{
	int64_t lost = lost_by(answer);

	if (lost < answer->allowed / AGENT_LITTLE) {
		pay(breaker, lost < 0 ? -lost : 0);
		open_way(breaker, seen, now);
	} else {
		lose(breaker, seen, lost, answer->allowed, now);
	}
}

void agent_breaker_overheard(struct agent_breaker *breaker, const struct agent_answer *answer, int64_t now)
{
	int64_t lost = lost_by(answer);
	int64_t until = atomic_load(&breaker->until);

	if (is_closed(until, now)) {
		return;
	}
	if (lost < answer->allowed / AGENT_PASSING) {
		pay(breaker, lost < 0 ? -lost : 0);
	} else {
		lose(breaker, until, lost, answer->allowed, now); /* where a probe is due, that was it */
	}
}

/* SPDX-License-Identifier: MIT */
#include "cache/breaker.h"
#include "tests/unit/support.h"

#define SECOND INT64_C(1000000000)

static const struct breaker_rule rule = {.failures = 1, .first_ns = 5 * SECOND, .longest_ns = 300 * SECOND};

static struct breaker breaker;
static int64_t seen;

static bool asks(int64_t now, int64_t *ret_seen)
{
	return breaker_ask(&breaker, &rule, now, ret_seen);
}

static void fails(int64_t now)
{
	cr_assert(asks(now, &seen));
	cr_assert(breaker_failed(&breaker, &rule, seen, now));
}

Test(breaker, is_closed_at_first_and_after_answers)
{
	for (int64_t now = 1; now < 100; now++) {
		cr_assert(asks(now, &seen));
		cr_assert_eq(seen, 0);
		cr_assert_eq(breaker_wait_ns(&breaker, now), -1);
		breaker_answered(&breaker, seen);
	}
}

/* Expects that the breaker is open from `now` for half to all of `pause`. Returns when a probe is due. */
static int64_t expect_pause(int64_t now, int64_t pause)
{
	int64_t wait = breaker_wait_ns(&breaker, now);

	cr_expect_geq(wait, pause / 2, "%lld", (long long)pause);
	cr_expect_leq(wait, pause, "%lld", (long long)pause);
	cr_expect_not(breaker_allows(&breaker, &rule, now, &seen));
	cr_expect_not(breaker_allows(&breaker, &rule, now + wait - 1, &seen));
	cr_expect(breaker_allows(&breaker, &rule, now + wait, &seen));
	cr_expect_eq(breaker_wait_ns(&breaker, now + wait), 0);
	return now + wait;
}

Test(breaker, each_pause_is_twice_as_long_up_to_five_minutes)
{
	static const int pauses[] = {5, 10, 20, 40, 80, 160, 300, 300, 300};
	int64_t now = SECOND;

	for (size_t i = 0; i < COUNT(pauses); i++) {
		fails(now);
		now = expect_pause(now, pauses[i] * SECOND);
	}
}

Test(breaker, pauses_are_randomized)
{
	int64_t shortest = INT64_MAX;
	int64_t longest = 0;

	for (int64_t i = 1; i <= 100; i++) {
		int64_t now = SECOND + 1000 * i;
		int64_t wait;

		breaker = (struct breaker){0};
		fails(now);
		wait = breaker_wait_ns(&breaker, now);
		shortest = wait < shortest ? wait : shortest;
		longest = wait > longest ? wait : longest;
	}
	cr_expect_gt(longest - shortest, 2 * SECOND);
}

Test(breaker, allows_one_probe_whose_answer_closes_it)
{
	int64_t other;

	fails(SECOND);
	cr_assert(asks(6 * SECOND, &seen));
	cr_expect_not(asks(6 * SECOND, &other));
	cr_expect_not(breaker_allows(&breaker, &rule, 6 * SECOND, &other));
	breaker_answered(&breaker, seen);
	cr_expect(asks(6 * SECOND, &other));
	/* after it has stayed closed, pauses begin with the first length */
	breaker_failed(&breaker, &rule, other, 46 * SECOND);
	(void)expect_pause(46 * SECOND, 5 * SECOND);
}

Test(breaker, a_probe_without_an_outcome_expires)
{
	fails(SECOND);
	cr_assert(asks(6 * SECOND, &seen));
	cr_expect_not(asks(6 * SECOND + BREAKER_PROBE_NS - 1, &seen));
	cr_expect(asks(6 * SECOND + BREAKER_PROBE_NS, &seen));
}

Test(breaker, a_probe_answered_after_a_later_failure_does_not_close_it)
{
	int64_t late;

	fails(SECOND);
	cr_assert(asks(6 * SECOND, &late));
	fails(16 * SECOND);
	breaker_answered(&breaker, late);
	cr_expect_not(asks(20 * SECOND, &seen));
}

Test(breaker, concurrent_failures_open_it_once_and_a_concurrent_answer_does_not_close_it)
{
	int64_t begun[4];

	for (int i = 0; i < 4; i++) {
		cr_assert(asks(SECOND, &begun[i]));
	}
	for (int i = 0; i < 3; i++) {
		cr_expect_eq(breaker_failed(&breaker, &rule, begun[i], SECOND), i == 0);
	}
	breaker_answered(&breaker, begun[3]);
	(void)expect_pause(SECOND, 5 * SECOND);
}

Test(breaker, a_check_without_a_question_is_no_probe)
{
	int64_t now = 6 * SECOND;
	int64_t probe;

	fails(SECOND);
	cr_assert(breaker_allows(&breaker, &rule, now, &seen));
	cr_assert(breaker_allows(&breaker, &rule, now, &seen));
	cr_assert(asks(now, &probe));
	/* the question began before the probe, so its failure does not end the probe */
	cr_expect_not(breaker_failed(&breaker, &rule, seen, now));
	breaker_answered(&breaker, probe);
	cr_expect(asks(now, &seen));
	cr_expect_eq(seen, 0);
}

Test(breaker, a_clock_far_behind_does_not_keep_it_open)
{
	fails(1000000 * SECOND);
	cr_expect(asks(SECOND, &seen));
}

Test(breaker, opens_after_the_configured_number_of_failures_in_a_row)
{
	static const struct breaker_rule patient = {.failures = 4, .first_ns = SECOND, .longest_ns = 60 * SECOND};

	for (int round = 0; round < 100; round++) {
		for (int i = 0; i < 3; i++) {
			cr_assert_not(breaker_failed(&breaker, &patient, 0, SECOND));
		}
		breaker_answered(&breaker, 0);
	}
	for (int i = 0; i < 4; i++) {
		cr_expect_eq(breaker_failed(&breaker, &patient, 0, SECOND), i == 3);
	}
}

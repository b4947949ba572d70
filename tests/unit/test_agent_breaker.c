/* SPDX-License-Identifier: MIT */
#include "cache/agent_breaker.h"

#include <criterion/criterion.h>

#define SECOND  INT64_C(1000000000)
#define MS      INT64_C(1000000)
#define ALLOWED (300 * MS)

static void answered(struct agent_breaker *breaker, int64_t seen, int64_t waited, uint64_t spared, int64_t now)
{
	agent_breaker_answered(breaker, seen,
	                       &(struct agent_answer){.waited = waited, .spared = spared, .allowed = ALLOWED}, now);
}

static void fails(struct agent_breaker *breaker, int64_t now)
{
	int64_t seen;

	cr_assert(agent_breaker_ask(breaker, now, &seen));
	agent_breaker_failed(breaker, seen, now);
}

Test(agent_breaker, is_open_at_first_and_after_answers)
{
	struct agent_breaker breaker = {0};
	int64_t seen;

	for (int64_t now = 1; now < 100; now++) {
		cr_assert(agent_breaker_ask(&breaker, now, &seen));
		cr_assert_eq(seen, 0);
		answered(&breaker, seen, MS, SECOND, SECOND);
	}
}

Test(agent_breaker, rests_for_twice_as_long_each_time_and_at_most_five_minutes)
{
	static const int rests[] = {5, 10, 20, 40, 80, 160, 300, 300, 300};
	struct agent_breaker breaker = {0};
	int64_t now = SECOND;
	int64_t seen;

	for (size_t i = 0; i < sizeof(rests) / sizeof(rests[0]); i++) {
		cr_assert(agent_breaker_ask(&breaker, now, &seen));
		agent_breaker_failed(&breaker, seen, now);
		cr_expect_not(agent_breaker_ask(&breaker, now, &seen));
		cr_expect_not(agent_breaker_ask(&breaker, now + rests[i] * SECOND - 1, &seen), "%d", rests[i]);
		cr_expect_not(agent_breaker_tell(&breaker, now + rests[i] * SECOND - 1, &seen), "%d", rests[i]);
		now += rests[i] * SECOND;
		cr_expect(agent_breaker_tell(&breaker, now, &seen), "%d", rests[i]);
	}
}

Test(agent_breaker, lets_one_probe_through_whose_answer_opens_it)
{
	struct agent_breaker breaker = {0};
	int64_t seen;
	int64_t other;

	fails(&breaker, SECOND);
	cr_assert(agent_breaker_ask(&breaker, 6 * SECOND, &seen));
	cr_expect_not(agent_breaker_ask(&breaker, 6 * SECOND, &other));
	answered(&breaker, seen, MS, SECOND, 6 * SECOND);
	cr_expect(agent_breaker_ask(&breaker, 6 * SECOND, &other));
	/* and begins anew when it has stayed open */
	agent_breaker_failed(&breaker, other, 46 * SECOND);
	cr_expect_not(agent_breaker_ask(&breaker, 51 * SECOND - 1, &other));
	cr_expect(agent_breaker_ask(&breaker, 51 * SECOND, &other));
}

Test(agent_breaker, is_closed_for_longer_each_time_that_it_opens_for_a_moment)
{
	static const int rests[] = {5, 10, 20, 40, 80, 160, 300, 300};
	struct agent_breaker breaker = {0};
	int64_t now = SECOND;
	int64_t seen;

	cr_assert(agent_breaker_ask(&breaker, now, &seen));
	for (size_t i = 0; i < sizeof(rests) / sizeof(rests[0]); i++) {
		cr_expect_eq(seen, 0);
		agent_breaker_failed(&breaker, seen, now);
		cr_expect_not(agent_breaker_ask(&breaker, now + rests[i] * SECOND - 1, &seen), "%d", rests[i]);
		now += rests[i] * SECOND;
		cr_assert(agent_breaker_ask(&breaker, now, &seen), "%d", rests[i]);
		answered(&breaker, seen, MS, SECOND, now);
		now += 7 * rests[i] * SECOND;
		cr_assert(agent_breaker_ask(&breaker, now, &seen), "%d", rests[i]);
	}
}

Test(agent_breaker, a_probe_of_which_nobody_hears_is_over_by_itself)
{
	struct agent_breaker breaker = {0};
	int64_t seen;

	fails(&breaker, SECOND);
	cr_assert(agent_breaker_ask(&breaker, 6 * SECOND, &seen));
	cr_expect_not(agent_breaker_ask(&breaker, 11 * SECOND - 1, &seen));
	cr_expect(agent_breaker_ask(&breaker, 11 * SECOND, &seen));
}

Test(agent_breaker, a_probe_that_is_answered_when_another_has_failed_opens_nothing)
{
	struct agent_breaker breaker = {0};
	int64_t seen;
	int64_t late;

	fails(&breaker, SECOND);
	cr_assert(agent_breaker_ask(&breaker, 6 * SECOND, &late));
	fails(&breaker, 11 * SECOND);
	answered(&breaker, late, MS, SECOND, 12 * SECOND);
	cr_expect_not(agent_breaker_ask(&breaker, 21 * SECOND - 1, &seen));
}

Test(agent_breaker, questions_that_fail_together_close_it_once_and_none_of_them_opens_it)
{
	struct agent_breaker breaker = {0};
	int64_t seen[4];
	int64_t later;

	for (int i = 0; i < 4; i++) {
		cr_assert(agent_breaker_ask(&breaker, SECOND, &seen[i]));
	}
	for (int i = 0; i < 3; i++) {
		agent_breaker_failed(&breaker, seen[i], SECOND + i);
	}
	answered(&breaker, seen[3], MS, SECOND, SECOND);
	cr_expect_not(agent_breaker_ask(&breaker, 6 * SECOND - 1, &later));
	cr_expect(agent_breaker_ask(&breaker, 6 * SECOND, &later));
}

Test(agent_breaker, a_message_that_is_sent_is_no_probe_and_opens_nothing)
{
	struct agent_breaker breaker = {0};
	int64_t seen;
	int64_t probe;

	fails(&breaker, SECOND);
	cr_assert(agent_breaker_tell(&breaker, 6 * SECOND, &seen));
	cr_assert(agent_breaker_tell(&breaker, 6 * SECOND, &seen));
	cr_assert(agent_breaker_ask(&breaker, 6 * SECOND, &probe));
	/* it was begun before the probe, and says nothing of it */
	agent_breaker_failed(&breaker, seen, 6 * SECOND);
	cr_expect(agent_breaker_ask(&breaker, 11 * SECOND, &seen));
	agent_breaker_failed(&breaker, seen, 11 * SECOND);
	cr_expect_not(agent_breaker_tell(&breaker, 21 * SECOND - 1, &seen));
	cr_assert(agent_breaker_tell(&breaker, 21 * SECOND, &seen));
	agent_breaker_failed(&breaker, seen, 21 * SECOND);
	cr_expect_not(agent_breaker_tell(&breaker, 41 * SECOND - 1, &seen));
}

Test(agent_breaker, a_clock_that_stands_far_behind_closes_nothing)
{
	struct agent_breaker breaker = {0};
	int64_t seen;

	fails(&breaker, 1000000 * SECOND);
	cr_expect(agent_breaker_ask(&breaker, SECOND, &seen));
}

/* How many of `most` questions are asked that are answered so slowly, and in vain, one after the other. */
static int asked_in_vain(struct agent_breaker *breaker, int64_t waited, int most)
{
	int64_t now = SECOND;
	int64_t seen;
	int asked = 0;

	while (asked < most && agent_breaker_ask(breaker, now, &seen)) {
		asked++;
		now += waited;
		answered(breaker, seen, waited, 0, now);
	}
	return asked;
}

Test(agent_breaker, slow_answers_that_do_not_help_close_it_when_more_is_waited_than_allowed)
{
	static const struct {
		int64_t waited;
		int asked;
	} cases[] = {{3 * MS, 101}, {30 * MS, 11}, {100 * MS, 4}, {101 * MS, 3}, {250 * MS, 2}, {301 * MS, 1}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct agent_breaker breaker = {0};

		cr_expect_eq(asked_in_vain(&breaker, cases[i].waited, 1000), cases[i].asked, "%zu", i);
	}
}

Test(agent_breaker, quick_answers_that_do_not_help_are_fine)
{
	struct agent_breaker breaker = {0};

	cr_expect_eq(asked_in_vain(&breaker, 35000, 100000), 100000);
	cr_expect_eq(asked_in_vain(&breaker, 3 * MS - 1, 100000), 100000);
	/* and are no help either */
	cr_expect_eq(asked_in_vain(&breaker, 250 * MS, 1), 1);
	cr_expect_eq(asked_in_vain(&breaker, 35000, 100), 100);
	cr_expect_eq(asked_in_vain(&breaker, 250 * MS, 10), 1);
}

Test(agent_breaker, an_answer_that_helps_pays_for_all_before_it)
{
	struct agent_breaker breaker = {0};
	int64_t seen;

	for (int i = 0; i < 1000; i++) {
		cr_assert_eq(asked_in_vain(&breaker, 250 * MS, 1), 1);
		cr_assert(agent_breaker_ask(&breaker, SECOND, &seen), "%d", i);
		answered(&breaker, seen, 100 * MS, 350 * MS, SECOND);
	}
	cr_expect_eq(asked_in_vain(&breaker, 250 * MS, 10), 2);
}

Test(agent_breaker, an_answer_pays_for_no_more_than_it_has_spared)
{
	struct agent_breaker breaker = {0};
	int64_t seen;

	/* of each two questions 150 ms are lost */
	cr_assert_eq(asked_in_vain(&breaker, 200 * MS, 1), 1);
	cr_assert(agent_breaker_ask(&breaker, SECOND, &seen));
	answered(&breaker, seen, 100 * MS, 150 * MS, SECOND);
	cr_expect_eq(asked_in_vain(&breaker, 200 * MS, 10), 1);
	/* what is gained beyond that is no licence */
	breaker = (struct agent_breaker){0};
	cr_assert(agent_breaker_ask(&breaker, SECOND, &seen));
	answered(&breaker, seen, 100 * MS, UINT64_MAX, SECOND);
	cr_expect_eq(asked_in_vain(&breaker, 250 * MS, 10), 2);
}

static void overheard(struct agent_breaker *breaker, int64_t waited, uint64_t spared, int64_t now)
{
	agent_breaker_overheard(breaker, &(struct agent_answer){.waited = waited, .spared = spared, .allowed = ALLOWED},
	                        now);
}

Test(agent_breaker, what_another_process_has_waited_closes_it_too)
{
	struct agent_breaker breaker = {0};
	int64_t seen;

	overheard(&breaker, 300 * MS, 20 * MS, SECOND);
	cr_expect(agent_breaker_ask(&breaker, SECOND, &seen));
	overheard(&breaker, 300 * MS, 20 * MS, SECOND);
	cr_expect_not(agent_breaker_ask(&breaker, 6 * SECOND - 1, &seen));
	/* while it is closed nothing is learnt; where a probe is due that was it, and nobody makes another */
	overheard(&breaker, SECOND, 0, 2 * SECOND);
	overheard(&breaker, 300 * MS, 20 * MS, 6 * SECOND);
	cr_expect_not(agent_breaker_ask(&breaker, 16 * SECOND - 1, &seen));
	cr_expect(agent_breaker_ask(&breaker, 16 * SECOND, &seen));
}

Test(agent_breaker, what_another_process_gained_pays_and_opens_nothing)
{
	struct agent_breaker breaker = {0};
	int64_t seen;

	for (int i = 0; i < 100; i++) {
		overheard(&breaker, 50 * MS, 36 * MS, SECOND); /* compiling is not all that it does */
		overheard(&breaker, 300 * MS, 20 * MS, SECOND);
		overheard(&breaker, 300 * MS, SECOND, SECOND);
	}
	fails(&breaker, SECOND);
	overheard(&breaker, 300 * MS, SECOND, 2 * SECOND);
	cr_expect_not(agent_breaker_ask(&breaker, 6 * SECOND - 1, &seen));
	overheard(&breaker, 300 * MS, SECOND, 6 * SECOND);
	cr_expect(agent_breaker_ask(&breaker, 6 * SECOND, &seen));
	cr_expect_neq(seen, 0, "it is a probe still");
}

/* How many of 1000 questions are asked that take so long, and spare so much. */
static int asked_for(int64_t waited, uint64_t spared)
{
	struct agent_breaker breaker = {0};
	int64_t seen;
	int asked = 0;

	while (asked < 1000 && agent_breaker_ask(&breaker, SECOND, &seen)) {
		asked++;
		answered(&breaker, seen, waited, spared, SECOND);
	}
	return asked;
}

Test(agent_breaker, answers_that_cost_more_than_they_spare_close_it_too)
{
	cr_expect_eq(asked_for(250 * MS, 50 * MS), 2);
	cr_expect_eq(asked_for(50 * MS, 44 * MS), 51);
	cr_expect_eq(asked_for(250 * MS, 250 * MS), 1000);
	cr_expect_eq(asked_for(250 * MS, 10 * SECOND), 1000);
	cr_expect_eq(asked_for(50 * MS, 48 * MS), 1000, "little is not counted");
}

Test(agent_breaker, a_probe_that_is_slow_in_vain_closes_it_for_twice_as_long)
{
	struct agent_breaker breaker = {0};
	int64_t now = SECOND;
	int64_t seen;

	cr_assert(agent_breaker_ask(&breaker, now, &seen));
	answered(&breaker, seen, 301 * MS, 0, now);
	for (int rest = 5; rest <= 160; rest *= 2) {
		cr_expect_not(agent_breaker_ask(&breaker, now + rest * SECOND - 1, &seen), "%d", rest);
		now += rest * SECOND;
		cr_assert(agent_breaker_ask(&breaker, now, &seen), "%d", rest);
		answered(&breaker, seen, 3 * MS, 0, now);
	}
}

Test(agent_breaker, a_probe_that_is_quick_opens_it_and_what_was_wasted_is_paid_for)
{
	struct agent_breaker breaker = {0};
	int64_t seen;

	cr_assert_eq(asked_in_vain(&breaker, 250 * MS, 10), 2);
	cr_assert(agent_breaker_ask(&breaker, 100 * SECOND, &seen));
	cr_assert_neq(seen, 0);
	answered(&breaker, seen, 35000, 0, 100 * SECOND);
	cr_expect_eq(asked_in_vain(&breaker, 250 * MS, 10), 2);
}

/* SPDX-License-Identifier: MIT */
#include "cache/pause.h"
#include "tests/unit/support.h"

#define SECOND INT64_C(1000000000)

static struct pause one = {.first_ns = 5 * SECOND, .longest_ns = 300 * SECOND};

static bool may_ask(int64_t now, int64_t *ret_seen)
{
	return pause_ask(&one, now, ret_seen);
}

/* Asks at `now`, and fails. Returns how long the pause is then. */
static int64_t failed(int64_t now)
{
	int64_t seen;

	cr_assert(may_ask(now, &seen));
	pause_begin(&one, seen, now);
	return one.until - now;
}

Test(pause, there_is_none_at_first_and_after_answers)
{
	int64_t seen;

	for (int64_t now = 1; now < 9; now++) {
		cr_assert(may_ask(now, &seen));
		pause_end(&one, seen);
	}
}

Test(pause, each_is_twice_as_long_up_to_five_minutes_and_at_most_half_of_it_is_taken_off)
{
	int64_t now = 1;
	int64_t seen;

	for (int64_t length = 5 * SECOND; now < 5000 * SECOND; length *= 2) {
		int64_t longest = length < 300 * SECOND ? length : 300 * SECOND;
		int64_t pause = failed(now);

		cr_expect_leq(pause, longest);
		cr_expect_geq(pause, longest / 2);
		cr_expect_not(may_ask(now + pause - 1, &seen));
		cr_expect_not(pause_is_over(&one, now + pause - 1, &seen));
		cr_expect(pause_is_over(&one, now + pause, &seen));
		now += pause;
	}
}

Test(pause, pauses_of_processes_differ)
{
	int64_t least = INT64_MAX;
	int64_t most = 0;

	for (int64_t now = 1; now < 1000; now++) {
		int64_t pause;

		atomic_store(&one.until, 0);
		pause = failed(now * 977);
		least = pause < least ? pause : least;
		most = pause > most ? pause : most;
	}
	cr_expect_lt(least, 3 * SECOND);
	cr_expect_gt(most, 4 * SECOND + SECOND / 2);
}

Test(pause, one_asks_after_it_and_the_answer_ends_it)
{
	int64_t seen;
	int64_t other;

	(void)failed(1);
	cr_assert(may_ask(6 * SECOND, &seen));
	cr_expect_not(may_ask(6 * SECOND, &other));
	pause_end(&one, seen);
	cr_assert(may_ask(6 * SECOND, &other));
	cr_expect_eq(other, 0);
	pause_begin(&one, other, 6 * SECOND);
	cr_expect_leq(one.until, 11 * SECOND, "it begins with the first pause again");
}

Test(pause, a_question_after_it_without_an_outcome_is_not_the_last)
{
	int64_t seen;

	(void)failed(1);
	cr_assert(may_ask(6 * SECOND, &seen));
	cr_expect_not(may_ask(10 * SECOND, &seen));
	cr_expect(may_ask(11 * SECOND, &seen));
}

Test(pause, questions_that_began_before_it_change_nothing)
{
	int64_t seen[3];
	int64_t until;

	for (int i = 0; i < 3; i++) {
		cr_assert(may_ask(SECOND, &seen[i]));
	}
	pause_begin(&one, seen[0], SECOND);
	until = one.until;
	pause_begin(&one, seen[1], 2 * SECOND);
	pause_end(&one, seen[2]);
	cr_expect_eq(one.until, until);
}

Test(pause, an_answer_that_comes_after_a_later_failure_does_not_end_it)
{
	int64_t seen;
	int64_t other;

	(void)failed(1);
	cr_assert(may_ask(6 * SECOND, &seen));
	cr_assert(may_ask(11 * SECOND, &other));
	pause_begin(&one, other, 11 * SECOND);
	pause_end(&one, seen);
	cr_expect_not(may_ask(12 * SECOND, &other));
}

Test(pause, a_clock_far_behind_does_not_keep_it)
{
	int64_t seen;

	(void)failed(1000000 * SECOND);
	cr_expect(may_ask(SECOND, &seen));
}

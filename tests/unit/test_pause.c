/* SPDX-License-Identifier: MIT */
#include "cache/pause.h"
#include "tests/unit/support.h"

#define SECOND INT64_C(1000000000)
#define ROUNDS 20000

static struct pause one = {.first_ns = 5 * SECOND, .longest_ns = 300 * SECOND};
static _Atomic int64_t arrived, asked;

/* Asks at `now`, and fails. Returns how long the pause is then. */
static int64_t failed(int64_t now)
{
	int64_t length = 0;

	cr_assert(pause_ask(&one, now));
	pause_begin(&one, now);
	while (!pause_is_over(&one, now + length)) {
		length += SECOND / 100;
	}
	return length;
}

Test(pause, each_is_twice_as_long_up_to_five_minutes_and_at_most_half_of_it_is_taken_off)
{
	int64_t now = 1;

	for (int64_t length = 5 * SECOND; now < 5000 * SECOND; length *= 2) {
		int64_t longest = length < 300 * SECOND ? length : 300 * SECOND;
		int64_t pause = failed(now);

		cr_expect_leq(pause, longest);
		cr_expect_geq(pause, longest / 2);
		cr_expect_not(pause_ask(&one, now + pause - SECOND / 100));
		now += pause;
	}
}

Test(pause, pauses_of_processes_differ)
{
	int64_t least = INT64_MAX;
	int64_t most = 0;

	for (int64_t now = 1; now < 1000; now++) {
		int64_t pause;

		atomic_store(&one.since, 0);
		pause = failed(now * 977);
		least = pause < least ? pause : least;
		most = pause > most ? pause : most;
	}
	cr_expect_lt(least, 3 * SECOND);
	cr_expect_gt(most, 4 * SECOND + SECOND / 2);
}

Test(pause, one_asks_after_it_and_the_answer_ends_it)
{
	(void)failed(1);
	cr_assert(pause_ask(&one, 6 * SECOND));
	pause_end(&one, 6 * SECOND);
	cr_assert(pause_ask(&one, 6 * SECOND));
	cr_expect_leq(failed(6 * SECOND), 5 * SECOND, "it begins with the first pause again");
}

static void *ask_in_step(void *unused)
{
	for (int64_t round = 1; round <= ROUNDS; round++) {
		atomic_fetch_add(&arrived, 1);
		while (atomic_load(&arrived) < 2 * round) {
		}
		atomic_fetch_add(&asked, pause_ask(&one, round * 400 * SECOND));
	}
	return unused;
}

Test(pause, of_threads_that_ask_at_once_one_does)
{
	pthread_t threads[2];

	pause_begin(&one, 1);
	start_threads(threads, 2, ask_in_step);
	join_threads(threads, 2);
	cr_expect_eq(asked, ROUNDS);
}

Test(pause, questions_that_began_before_it_neither_prolong_nor_end_it)
{
	int64_t length = failed(10 * SECOND);

	pause_begin(&one, 11 * SECOND);
	pause_end(&one, 10 * SECOND - 1);
	cr_expect_not(pause_is_over(&one, 10 * SECOND + length - SECOND / 100));
	cr_expect(pause_is_over(&one, 10 * SECOND + length));
}

Test(pause, a_clock_far_behind_does_not_keep_it)
{
	(void)failed(1000000 * SECOND);
	cr_expect(pause_ask(&one, SECOND));
}

Test(pause, one_whose_length_is_not_stored_yet_is_the_first)
{
	atomic_store(&one.since, SECOND);
	atomic_store(&one.length, 0);
	cr_expect_not(pause_ask(&one, 2 * SECOND));
	cr_assert(pause_ask(&one, 6 * SECOND));
	cr_expect_eq(atomic_load(&one.length), 10 * SECOND);
}

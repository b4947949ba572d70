/* SPDX-License-Identifier: MIT */
/* breaker, queue, settled: what the agent leaves alone, what waits, and what needs no asking */
#include "agent/breaker.h"
#include "agent/queue.h"
#include "agent/settled.h"

#include <criterion/criterion.h>
#include <string.h>

#define SECOND INT64_C(1000000000)

static struct breaker breaker;

static bool note(enum breaker_outcome outcome, int64_t now)
{
	return breaker_note(&breaker, outcome, now, 0);
}

Test(breaker, a_few_failures_among_answers_are_borne)
{
	for (int i = 0; i < 100; i++) {
		cr_assert_not(note(i % 3 == 0 ? BREAKER_FAILED : BREAKER_ANSWERED, i));
		cr_assert(breaker_allows(&breaker));
	}
}

Test(breaker, it_opens_by_rate_and_not_before_the_least)
{
	for (int i = 1; i < BREAKER_LEAST; i++) {
		cr_assert_not(note(BREAKER_FAILED, i));
	}
	cr_assert(note(BREAKER_FAILED, BREAKER_LEAST));
	cr_assert_not(breaker_allows(&breaker));
	cr_assert_not(note(BREAKER_FAILED, BREAKER_LEAST)); /* said once */
}

Test(breaker, old_failures_do_not_count)
{
	for (int i = 1; i < BREAKER_LEAST; i++) {
		(void)note(BREAKER_FAILED, i);
	}
	cr_assert_not(note(BREAKER_FAILED, BREAKER_WINDOW_NS + SECOND));
	cr_assert(breaker_allows(&breaker));
}

static void open_it(uint64_t random)
{
	for (int i = 0; i < BREAKER_LEAST; i++) {
		(void)breaker_note(&breaker, BREAKER_FAILED, 0, random);
	}
}

Test(breaker, one_probe_at_a_time_and_a_good_one_ends_it)
{
	open_it(0);
	cr_assert_not(breaker_probe(&breaker, BREAKER_SOON_NS - 1));
	cr_assert_eq(breaker_wait_ns(&breaker, 0), BREAKER_SOON_NS);
	cr_assert(breaker_probe(&breaker, BREAKER_SOON_NS));
	cr_assert_not(breaker_probe(&breaker, BREAKER_SOON_NS));
	cr_assert_eq(breaker_wait_ns(&breaker, BREAKER_SOON_NS), -1);
	cr_assert_not(breaker_allows(&breaker));
	breaker_probed(&breaker, BREAKER_ANSWERED, BREAKER_SOON_NS, 0);
	cr_assert(breaker_allows(&breaker));
	cr_assert_not(note(BREAKER_FAILED, BREAKER_SOON_NS)); /* what was before is forgotten */
}

Test(breaker, bad_probes_come_rarer_and_never_rarer_than_a_minute)
{
	const uint64_t most = UINT64_MAX / 2 + 1; /* divided by no power of ten */
	int64_t longest = 0;
	int64_t now = 0;

	open_it(most);
	for (int i = 0; i < 40; i++) {
		int64_t wait = breaker_wait_ns(&breaker, now);

		cr_assert_geq(wait, BREAKER_SOON_NS);
		cr_assert_lt(wait, BREAKER_SOON_NS + BREAKER_MOST_NS);
		longest = wait > longest ? wait : longest;
		now += wait;
		cr_assert(breaker_probe(&breaker, now));
		breaker_probed(&breaker, BREAKER_FAILED, now, most - (uint64_t)i * SECOND);
	}
	cr_assert_gt(longest, BREAKER_MOST_NS / 2);
}

static struct queue queue;

static const uint8_t *key(unsigned number)
{
	static uint8_t bytes[ENTRY_KEY_BYTES];

	memcpy(bytes, &number, sizeof(number));
	return bytes;
}

Test(queue, what_is_due_first_comes_first)
{
	uint8_t got[ENTRY_KEY_BYTES];

	cr_assert_eq(queue_due_ns(&queue), INT64_MAX);
	cr_assert_eq(queue_put(&queue, key(1), 30), QUEUE_PUT);
	cr_assert_eq(queue_put(&queue, key(2), 10), QUEUE_PUT);
	cr_assert_eq(queue_put(&queue, key(3), 20), QUEUE_PUT);
	cr_assert_eq(queue_put(&queue, key(2), 5), QUEUE_THERE);
	cr_assert_eq(queue_due_ns(&queue), 10);
	cr_assert_not(queue_take(&queue, 9, got));
	cr_assert(queue_take(&queue, 25, got));
	cr_assert_arr_eq(got, key(2), sizeof(got));
	cr_assert(queue_take(&queue, 25, got));
	cr_assert_arr_eq(got, key(3), sizeof(got));
	cr_assert_not(queue_take(&queue, 25, got));
	queue_hurry(&queue);
	cr_assert(queue_take(&queue, 0, got));
	cr_assert_eq(queue.count, 0);
}

Test(queue, it_is_bounded)
{
	for (unsigned i = 0; i < QUEUE_MOST; i++) {
		cr_assert_eq(queue_put(&queue, key(i), i), QUEUE_PUT);
	}
	cr_assert_eq(queue_put(&queue, key(QUEUE_MOST), 0), QUEUE_FULL);
	cr_assert_eq(queue_put(&queue, key(7), 0), QUEUE_THERE);
}

Test(settled, it_knows_what_it_was_told)
{
	struct settled settled;

	settled_begin(&settled);
	cr_assert_not(settled_holds(&settled, key(1), 0));
	cr_assert_not(settled_seen(&settled, key(1), 0));
	for (unsigned i = 0; i < 5000; i++) {
		settled_note(&settled, key(i), i + 1, (int64_t)i + 2);
	}
	for (unsigned i = 0; i < 5000; i++) {
		cr_assert(settled_holds(&settled, key(i), i + 1));
		cr_assert_not(settled_holds(&settled, key(i), i));
		cr_assert(settled_seen(&settled, key(i), (int64_t)i + 2));
	}
	cr_assert_not(settled_seen(&settled, key(5000), 5002));
	settled_note(&settled, key(3), 9, 0);
	cr_assert(settled_holds(&settled, key(3), 9));
	cr_assert_eq(settled.count, 5000);
	settled_free(&settled);
}

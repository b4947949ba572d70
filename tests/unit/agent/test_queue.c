/* SPDX-License-Identifier: MIT */
/* queue, settled: what waits, and what needs no asking */
#include "agent/node/queue.h"
#include "agent/node/service.h"

#include <criterion/criterion.h>
#include <string.h>

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

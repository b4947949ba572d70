/* SPDX-License-Identifier: MIT */
/* queue, settled: waiting uploads, and keys that need no question to the engine */
#include "agent/node/service.h"
#include "agent/node/upload.h"
#include "tests/unit/support.h"

static struct queue queue;

static const uint8_t *key(unsigned number)
{
	static uint8_t bytes[ENTRY_KEY_BYTES];

	memcpy(bytes, &number, sizeof(number));
	return bytes;
}

Test(queue, the_earliest_due_item_is_taken_first)
{
	uint8_t got[ENTRY_KEY_BYTES];

	cr_assert_eq(queue_due_ns(&queue), INT64_MAX);
	cr_assert(queue_put(&queue, key(1), 30));
	cr_assert(queue_put(&queue, key(2), 10));
	cr_assert(queue_put(&queue, key(3), 20));
	cr_assert(queue_put(&queue, key(2), 5));
	cr_assert_eq(queue_due_ns(&queue), 10);
	cr_assert_not(queue_take(&queue, 9, got));
	cr_assert(queue_take(&queue, 25, got));
	cr_assert_arr_eq(got, key(2), sizeof(got));
	cr_assert(queue_take(&queue, 25, got));
	cr_assert_arr_eq(got, key(3), sizeof(got));
	cr_assert_not(queue_take(&queue, 25, got));
	cr_assert(queue_take(&queue, INT64_MAX, got));
	cr_assert_eq(queue.count, 0);
}

Test(queue, the_queue_is_bounded)
{
	for (unsigned i = 0; i < QUEUE_MOST; i++) {
		cr_assert(queue_put(&queue, key(i), i));
	}
	cr_assert_not(queue_put(&queue, key(QUEUE_MOST), 0));
	cr_assert(queue_put(&queue, key(7), 0));
}

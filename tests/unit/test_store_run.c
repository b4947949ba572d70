/* SPDX-License-Identifier: MIT */
/* store_run: what many hands put at once is what one store_put() after the other would have left */
#include "cache/tools/store_run.h"
#include "cache/tools/usage.h"

#include "cache/recency.h"
#include "cache/tools/inventory.h"
#include "store_fixture.h"

#include <pthread.h>
#include <sys/resource.h>

#define HANDS 4
#define EACH  200

TestSuite(store_run, .init = fixture_open, .fini = fixture_close);

static bool same_bytes(const struct entry *there, const struct entry *comes)
{
	size_t one_size, other_size;
	const void *one = entry_bytes(there, &one_size);
	const void *other = entry_bytes(comes, &other_size);

	return one_size == other_size && memcmp(one, other, one_size) == 0;
}

static struct store_run *begun(struct store *store)
{
	struct store_run *run;

	cr_assert_eq(store_run_begin(store, same_bytes, &run), 0);
	return run;
}

static struct store_hand *hand_of(struct store_run *run)
{
	struct store_hand *hand;

	cr_assert_eq(store_hand_begin(run, &hand), 0);
	return hand;
}

static void key_of(unsigned number, uint8_t ret_key[ENTRY_KEY_BYTES])
{
	memset(ret_key, 0, ENTRY_KEY_BYTES);
	ret_key[0] = (uint8_t)(number * 7);
	ret_key[1] = (uint8_t)number;
	ret_key[2] = (uint8_t)(number >> 8);
}

static int put_entry(struct store_hand *hand, struct entry *entry, int64_t used, enum store_put_outcome *ret_outcome)
{
	int rc = store_hand_put(hand, entry, used, ret_outcome);

	entry_unref(entry);
	return rc;
}

static int put_number(struct store_hand *hand, unsigned number, int64_t used)
{
	enum store_put_outcome outcome;
	uint8_t key[ENTRY_KEY_BYTES];

	key_of(number, key);
	return put_entry(hand, fixture_entry(key, 1, 100), used, &outcome);
}

static void expect_counted(uint64_t entries)
{
	struct store_usage noted, found;

	cr_assert_eq(store_usage_noted(fixture.store, &noted), 0);
	cr_assert_eq(store_usage(fixture.store, &found), 0);
	cr_expect_eq(found.entries, entries);
	cr_expect_eq(noted.entries, entries);
	/* A scan may meet a temporary file of another hand, which counts until its shard is scanned again. */
	cr_expect_geq(noted.bytes, found.bytes);
	cr_expect_leq(noted.bytes, found.bytes + (HANDS - 1) * (found.bytes / entries + 1));
}

struct part {
	struct store_run *run;
	int64_t stamps[EACH];
	unsigned first;
};

static void *put_part(void *context)
{
	struct part *part = context;
	struct store_hand *hand = hand_of(part->run);

	for (unsigned i = EACH; i-- > 0;) {
		cr_expect_eq(put_number(hand, part->first + i * HANDS, part->stamps[i]), 0);
	}
	store_hand_end(hand);
	return NULL;
}

Store_test(store_run, many_hands_put_all_and_it_is_counted_and_has_the_order_of_its_stamps)
{
	const struct directory directory = {.path = fixture.root};
	struct store_run *run = begun(fixture.store);
	static struct part parts[HANDS];
	struct inventory inventory;
	pthread_t threads[HANDS];

	for (unsigned i = 0; i < EACH; i++) {
		for (unsigned part = 0; part < HANDS; part++) {
			parts[part].stamps[i] = store_run_stamp(run);
		}
	}
	for (unsigned part = 0; part < HANDS; part++) {
		parts[part].run = run;
		parts[part].first = part;
		cr_assert_eq(pthread_create(&threads[part], NULL, put_part, &parts[part]), 0);
	}
	for (unsigned part = 0; part < HANDS; part++) {
		(void)pthread_join(threads[part], NULL);
	}
	store_run_end(run);
	expect_counted(HANDS * EACH);
	cr_assert_eq(inventory_take(&directory, NULL, &inventory), 0);
	cr_assert_eq(inventory.count, HANDS * EACH);
	for (unsigned i = 0; i < HANDS * EACH; i++) {
		uint8_t key[ENTRY_KEY_BYTES];

		key_of(i, key);
		cr_assert_eq(memcmp(inventory.records[i].key, key, sizeof(key)), 0, "%u is not in its place", i);
	}
	inventory_free(&inventory);
}

Store_test(store_run, stamps_grow_and_are_marked)
{
	struct store_run *run = begun(fixture.store);
	int64_t before = store_run_stamp(run);

	for (unsigned i = 0; i < 1000; i++) {
		int64_t stamp = store_run_stamp(run);

		cr_assert_gt(stamp, before);
		cr_assert_eq(stamp, recency_stamp(stamp));
		before = stamp;
	}
	store_run_end(run);
}

Store_test(store_run, results_of_a_key_lie_side_by_side_and_one_that_is_there_is_known)
{
	struct store_run *run = begun(fixture.store);
	struct store_hand *hand = hand_of(run);
	enum store_put_outcome outcome;
	struct entry *third = fixture_entry(fixture_key, 3, 100);

	cr_assert_eq(fixture_put(fixture.store, 1), 0);
	cr_assert_eq(put_entry(hand, fixture_entry(fixture_key, 2, 100), store_run_stamp(run), &outcome), 0);
	cr_expect_eq(outcome, STORE_PUT_DONE);
	cr_assert_eq(put_entry(hand, entry_ref(third), store_run_stamp(run), &outcome), 0);
	cr_expect_eq(outcome, STORE_PUT_DONE);
	cr_assert_eq(put_entry(hand, entry_ref(third), store_run_stamp(run), &outcome), 0);
	cr_expect_eq(outcome, STORE_PUT_KNOWN);
	/* the same dependencies and other bytes: it is replaced */
	cr_assert_eq(put_entry(hand, fixture_entry(fixture_key, 3, 200), store_run_stamp(run), &outcome), 0);
	cr_expect_eq(outcome, STORE_PUT_DONE);
	entry_unref(third);
	store_hand_end(hand);
	store_run_end(run);
	for (int dependency = 1; dependency <= 3; dependency++) {
		cr_expect_eq(fixture_get(fixture.store, dependency), dependency);
	}
	expect_counted(1);
}

Store_test(store_run, a_damaged_file_is_replaced)
{
	struct store_run *run = begun(fixture.store);
	struct store_hand *hand = hand_of(run);
	enum store_put_outcome outcome;

	cr_assert_eq(fixture_put(fixture.store, 1), 0);
	fixture_write(fixture.path, "nothing of ours", 15);
	cr_assert_eq(put_entry(hand, fixture_entry(fixture_key, 1, 100), store_run_stamp(run), &outcome), 0);
	cr_expect_eq(outcome, STORE_PUT_DONE);
	store_hand_end(hand);
	store_run_end(run);
	cr_expect_eq(fixture_get(fixture.store, 1), 1);
}

Store_test(store_run, what_is_removed_meanwhile_is_made_again)
{
	struct store_run *run = begun(fixture.store);
	struct store_hand *hand = hand_of(run);

	cr_assert_eq(put_number(hand, 1, store_run_stamp(run)), 0);
	remove_tree(fixture.root);
	cr_assert_eq(put_number(hand, 1, store_run_stamp(run)), 0);
	store_hand_end(hand);
	store_run_end(run);
	expect_counted(1);
}

Store_test(store_run, few_descriptors_will_do)
{
	struct store_run *run = begun(fixture.store);
	struct store_hand *hand = hand_of(run);
	struct rlimit before, few;

	cr_assert_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
	few = before;
	few.rlim_cur = (rlim_t)fixture.descriptors + 16;
	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
	for (unsigned i = 0; i < 256; i++) {
		cr_expect_eq(put_number(hand, i, store_run_stamp(run)), 0);
	}
	store_hand_end(hand);
	store_run_end(run);
	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
	expect_counted(256);
}

Store_test(store_run, the_cap_is_kept_and_what_has_the_last_stamps_stays)
{
	struct store *store = fixture_store((struct store_options){.max_size = 40000});
	struct store_run *run = begun(store);
	struct store_hand *hand = hand_of(run);
	uint8_t key[ENTRY_KEY_BYTES];
	struct store_usage found;
	struct entry *entry;

	for (unsigned i = 0; i < 600; i++) {
		cr_assert_eq(put_number(hand, i, store_run_stamp(run)), 0);
	}
	store_hand_end(hand);
	store_run_end(run);
	cr_assert_eq(store_usage(store, &found), 0);
	cr_expect_leq(found.bytes, 40000);
	cr_expect_geq(found.bytes, 39000);
	cr_expect_eq(found.entries + store_take_evictions(store), 600);
	for (unsigned i = 0; i < 600; i++) {
		key_of(i, key);
		if (store_get(store, key, NULL, NULL, &entry) == 0) {
			cr_expect_geq(i, 600 - (unsigned)found.entries, "%u is older than one that has gone", i);
			entry_unref(entry);
		}
	}
	store_close(store);
}

Store_test(store_run, neither_larger_than_an_eighth_nor_where_it_may_not_write)
{
	struct store *small = fixture_store((struct store_options){.max_size = 2000});
	struct store *closed = fixture_store((struct store_options){.read_only = true});
	struct store_run *run = begun(small);
	struct store_hand *hand = hand_of(run);

	cr_expect_eq(put_number(hand, 1, store_run_stamp(run)), -EFBIG);
	store_hand_end(hand);
	store_run_end(run);
	cr_expect_eq(store_run_begin(closed, same_bytes, &run), -EROFS);
	store_close(small);
	store_close(closed);
}

/* SPDX-License-Identifier: MIT */
/* usage: the sums, which describe the directory without reading it */
#include "evict_fixture.h"
#include "syscalls.h"

TestSuite(usage, .init = fixture_open, .fini = fixture_close, .timeout = 240);

static void expect_as_counted(struct store *store)
{
	cr_assert_eq(noted_of(store).entries, usage_of(store).entries);
	cr_assert_eq(noted_of(store).bytes, usage_of(store).bytes);
}

/* Where locks cannot be had, one process may count the temporary file of another: the next store corrects that. */
Store_test(usage, the_sums_are_right_again_after_stores_without_a_lock)
{
	struct store *store = fixture_store((struct store){.max_size = 1 << 20});
	pid_t children[8];
	int lock;

	cr_assert_eq(fixture_put(store, 1), 0);
	lock = fixture_lock();
	for (unsigned i = 0; i < COUNT(children); i++) {
		children[i] = fork();
		if (children[i] == 0) {
			_exit(fixture_put(store, 1) == 0 ? 0 : 1);
		}
	}
	for (unsigned i = 0; i < COUNT(children); i++) {
		cr_assert_eq(exit_of(children[i]), 0);
	}
	close(lock);
	cr_assert_eq(fixture_put(store, 1), 0);
	cr_assert_eq(noted_of(store).entries, 1);
	expect_as_counted(store);
}

static void put_into_large_shard(void *context, unsigned step)
{
	uint8_t key[ENTRY_KEY_BYTES] = {0x77};

	memcpy(key + 8, &(uint64_t){next_random(&(uint64_t){step})}, 8);
	clock_now += SECOND;
	(void)fixture_put_entry(context, fixture_entry(key, 1, next_random(&(uint64_t){step + 7}) % 30000));
}

/* Of a shard of more than 64 entries some are looked at, of which the others are estimated. */
Store_test(usage, large_shards_are_estimated)
{
	struct store *store = fixture_capped(1 << 28);
	double share;

	for (unsigned i = 0; i < 1200; i++) {
		put_into_large_shard(store, i);
	}
	cr_assert_eq(noted_of(store).entries, 1200);
	share = (double)noted_of(store).bytes / (double)usage_of(store).bytes;
	cr_log_info("estimated %.3f of the size", share);
	cr_assert(share > 0.75 && share < 1.25);
}

static void look(void *context, unsigned step)
{
	struct store_usage usage;

	(void)store_usage_about(context, &usage);
}

Store_test(usage, costs_the_same_for_any_number_of_entries)
{
	struct store *store = fixture_capped(1 << 24);
	struct syscalls few, many;

	put_range(store, 0, 20);
	skip_unless(syscalls_count(look, store, 1, &few), "processes may not be traced here");
	put_range(store, 20, 1000);
	cr_assert(syscalls_count(look, store, 1, &many));
	cr_assert_eq(few.all, many.all);
	cr_assert_lt(many.all - many.users, 16);
}

/* SPDX-License-Identifier: MIT */
/* usage: the usage index, which describes the directory without reading it */
#include "cache/tools/prune.h"
#include "evict_fixture.h"
#include "syscalls.h"

TestSuite(usage, .init = fixture_open, .fini = fixture_close, .timeout = 240);

static struct store_usage noted_of(struct store *store)
{
	struct store_usage usage = {.bytes = 1};

	cr_assert_eq(store_usage_noted(store, &usage), 0);
	return usage;
}

static void expect_as_counted(struct store *store)
{
	struct store_usage noted = noted_of(store);
	struct store_usage counted = usage_of(store);

	cr_assert_eq(noted.entries, counted.entries);
	cr_assert_eq(noted.bytes, counted.bytes);
}

static void put_some(struct store *store, unsigned from, unsigned to)
{
	for (unsigned i = from; i < to; i++) {
		clock_now += SECOND;
		cr_assert_eq(numbered_put_sized(store, i, i * 37 % 2000), 0);
	}
}

Store_test(usage, a_missing_directory_is_empty_and_not_created)
{
	cr_assert_eq(noted_of(fixture.store).bytes, 0);
	cr_assert_not(fixture_exists(fixture.root));
}

Store_test(usage, the_usage_index_is_right_after_stores_evictions_and_clearing)
{
	struct store *store = fixture_capped(100000);

	put_some(store, 0, 50);
	expect_as_counted(store);
	put_some(store, 50, 400);
	cr_assert_gt(store_take_evictions(store), 0);
	expect_as_counted(store);
	cr_assert_eq(store_clear(store, &(struct store_usage){0}), 0);
	cr_assert_eq(noted_of(store).bytes, 0);
	put_some(store, 0, 30);
	expect_as_counted(store);
}

Store_test(usage, files_are_counted_if_the_usage_index_is_missing_damaged_or_untrusted)
{
	struct store *store = fixture_capped(1 << 20);

	put_some(store, 0, 60);
	cr_assert_eq(truncate(in_home("usage-index"), 100), 0);
	expect_as_counted(store);
	cr_assert_eq(chmod(in_home("usage-index"), 0666), 0);
	expect_as_counted(store);
	cr_assert_eq(unlink(in_home("usage-index")), 0);
	expect_as_counted(store);
	cr_assert_not(fixture_exists(in_home("usage-index")), "looking made one");
}

/* A lost usage index is rebuilt two shards at a time. */
Store_test(usage, shards_unknown_to_the_usage_index_are_counted)
{
	struct store *store = fixture_capped(1 << 20);

	put_some(store, 0, 200);
	cr_assert_eq(unlink(in_home("usage-index")), 0);
	put_some(store, 200, 203);
	cr_assert(fixture_exists(in_home("usage-index")));
	expect_as_counted(store);
}

Store_test(usage, files_removed_by_hand_are_noticed_when_counting)
{
	struct store *store = fixture_capped(1 << 20);
	struct store_pruned pruned;

	put_some(store, 0, 10);
	cr_assert_eq(unlink(numbered_path(3)), 0);
	cr_assert_eq(noted_of(store).entries, 10);
	cr_assert_eq(usage_of(store).entries, 9);
	cr_assert_eq(store_prune(store, INT64_MAX, &pruned), 0);
	cr_assert_eq(noted_of(store).entries, 9);
}

static void look(void *context, unsigned step)
{
	struct store_usage usage;

	(void)store_usage_noted(context, &usage);
}

Store_test(usage, costs_the_same_for_any_number_of_entries)
{
	struct store *store = fixture_capped(1 << 22);
	struct syscalls few, many;

	put_some(store, 0, 10);
	skip_unless(syscalls_count(look, store, 1, &few), "processes may not be traced here");
	put_some(store, 10, 1000);
	cr_assert(syscalls_count(look, store, 1, &many));
	cr_assert_eq(few.all, many.all);
	cr_assert_lt(many.all - many.users, 12);
}

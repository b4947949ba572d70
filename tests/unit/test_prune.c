/* SPDX-License-Identifier: MIT */
/* prune: changes of files between the scan and the removal, and the usage index meanwhile */
#include "cache/tools/chore.h"
#include "cache/tools/prune.h"
#include "evict_fixture.h"

#include "cache/upkeep/usage_index.h"

TestSuite(prune, .init = fixture_open, .fini = fixture_close);

#define PUT  10
#define LEFT 5

/* Called after the scan and before the first removal; and before each removal. */
static void (*before_removal)(void);
static void (*at_removal)(void);
static struct chore chore;

static bool stopped(void)
{
	if (chore.phase == CHORE_WORKING && before_removal) {
		before_removal();
		before_removal = NULL;
	}
	if (chore.phase == CHORE_WORKING && at_removal) {
		at_removal();
	}
	return false;
}

/* Prunes a store of ten entries, each a second younger than the one before; half of them have to be removed. */
static struct store_pruned pruned(int64_t unused_ns)
{
	struct store *store = fixture_capped(1 << 20), *small;
	struct store_pruned result;

	chore = (struct chore){.stopped = stopped};
	clock_now -= clock_now % SECOND;
	put_apart(store, 0, PUT, 0);
	clock_now += 24 * HOUR;
	for (unsigned i = 0; i < PUT; i++) {
		age_file(numbered_path(i), 1000 - i);
	}
	small = fixture_store(
	    (struct store_options){.max_size = LEFT * FILE_BYTES, .clock = fixture_clock, .chore = &chore});
	cr_assert_eq(store_prune(small, unused_ns, &result), 0);
	return result;
}

static void expect_left(const char *wanted)
{
	for (unsigned i = 0; i < PUT; i++) {
		cr_expect_eq(numbered_exists(i), wanted[i] == '+', "entry %u", i);
	}
}

/* Expects `entries` entries both in the usage index and in the directory. */
static void expect_noted(uint64_t entries)
{
	struct store *store = fixture_capped(1 << 20);
	struct store_usage noted = {0}, counted = usage_of(store);

	cr_expect_eq(store_usage_noted(store, &noted), 0);
	cr_expect_eq(counted.entries, entries);
	cr_expect_eq(noted.entries, entries);
	cr_expect_eq(noted.bytes, counted.bytes);
}

Store_test(prune, the_oldest_are_removed_and_the_usage_index_is_updated)
{
	struct store_pruned result = pruned(INT64_MAX);

	expect_left("-----+++++");
	expect_noted(LEFT);
	cr_expect_eq(result.removed.entries, PUT - LEFT);
	cr_expect_eq(result.left.entries, LEFT);
	cr_expect_eq(result.left.bytes, LEFT * FILE_BYTES);
}

Store_test(prune, an_entry_used_exactly_at_the_limit_is_not_removed)
{
	(void)pruned((1000 - 7) * SECOND);
	expect_left("-------+++");
}

/* More than an eighth of the cap, though nothing was used later. */
Store_test(prune, too_large_entries_are_removed_first)
{
	struct store *store = fixture_capped(1 << 20);
	struct store *small = fixture_capped(24 * FILE_BYTES);
	struct store_pruned result;

	put_apart(store, 0, 24, 0);
	clock_now += HOUR;
	cr_assert_eq(numbered_put_sized(store, 24, 4 * FILE_BYTES), 0);
	cr_assert_eq(store_prune(small, INT64_MAX, &result), 0);
	cr_expect_eq(result.removed.entries, 1);
	cr_expect_not(numbered_exists(24));
}

static void use_first(void)
{
	age_file(numbered_path(0), 1);
}

Store_test(prune, an_entry_used_after_the_scan_is_not_removed)
{
	before_removal = use_first;
	(void)pruned(INT64_MAX);
	expect_left("+-----++++");
	expect_noted(LEFT);
}

static void remove_some(void)
{
	for (unsigned i = 0; i < 3; i++) {
		cr_assert_eq(unlink(numbered_path(i)), 0);
	}
}

Store_test(prune, files_removed_by_another_process_count_as_freed)
{
	before_removal = remove_some;
	cr_expect_eq(pruned(INT64_MAX).removed.entries, PUT - LEFT - 3);
	expect_left("-----+++++");
	expect_noted(LEFT);
}

static int held = -1;

static void hold_first(void)
{
	held = lock_number(0);
}

Store_test(prune, an_entry_locked_by_a_put_is_not_removed)
{
	before_removal = hold_first;
	(void)pruned(INT64_MAX);
	close(held);
	expect_left("+-----++++");
	expect_noted(LEFT);
}

static unsigned unknown_seen;

static void look_for_unknown(void)
{
	const struct directory directory = {.path = fixture.root};
	struct usage_index *index;
	int home;

	cr_assert_eq(directory_open(&directory, DIRECTORY_REACH, &home), 0);
	cr_assert_eq(usage_index_peek(&directory, home, &index), 0);
	for (unsigned i = 0; i < DIRECTORY_SHARDS; i++) {
		unknown_seen += index->page.shards[i].known == 0;
	}
	usage_index_free(index);
	close(home);
}

Store_test(prune, a_shard_is_unknown_to_the_usage_index_during_removal)
{
	at_removal = look_for_unknown;
	(void)pruned(INT64_MAX);
	cr_expect_geq(unknown_seen, PUT - LEFT);
	unknown_seen = 0;
	look_for_unknown();
	cr_expect_eq(unknown_seen, 0);
}

/* Stores as another process, which counts the unknown shard while the files to be removed still exist. */
static void store_another(void)
{
	const uint64_t cap = 1 << 20;
	struct store *store = fixture_store((struct store_options){.max_size = cap, .clock = fixture_clock});
	static unsigned number = 100;

	cr_assert_eq(numbered_put(store, number++), 0);
}

Store_test(prune, a_shard_changed_by_another_process_meanwhile_is_counted_again)
{
	at_removal = store_another;
	(void)pruned(INT64_MAX);
	at_removal = NULL;
	expect_left("-----+++++");
	expect_noted(usage_of(fixture.store).entries);
}

Store_test(prune, by_age_uses_true_ages_and_by_size_begins_with_short_lived_entries)
{
	struct store *store = fixture_capped(1 << 20), *small;
	struct store_pruned result;

	cr_assert_eq(numbered_put(store, 0), 0);
	short_lived_put(store, 1);
	cr_assert_eq(store_prune(store, HOUR, &result), 0);
	cr_assert(numbered_exists(0) && numbered_exists(1));
	small = fixture_store((struct store_options){.max_size = 3 * FILE_BYTES / 2, .clock = fixture_clock});
	cr_assert_eq(store_prune(small, INT64_MAX, &result), 0);
	cr_assert(numbered_exists(0) && !numbered_exists(1));
}

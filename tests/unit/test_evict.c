/* SPDX-License-Identifier: MIT */
/* evict: the cap holds, and the least recently used entries are removed */
#include "cache/tools/prune.h"
#include "evict_fixture.h"

TestSuite(evict, .init = fixture_open, .fini = fixture_close, .timeout = 240);

static uint64_t one_size(unsigned number)
{
	return FILE_BYTES;
}

/* Compares a cache of `room` files with an exact LRU of that size. `step`: nanoseconds between accesses; 0: real time.
 * Returns our hit rate minus that of the LRU, in percentage points. */
static double compare_with_lru(unsigned room, unsigned keys, double exponent, unsigned accesses, int64_t step)
{
	static struct zipf zipf;
	static struct lru lru;
	struct store *store = step ? fixture_capped(room * FILE_BYTES)
	                           : fixture_store((struct store_options){.max_size = room * FILE_BYTES});
	unsigned hits = 0;
	double ours, exact;

	zipf_begin(&zipf, keys, exponent, 1);
	lru = (struct lru){.cap = room * FILE_BYTES, .count = keys};
	for (unsigned i = 0; i < accesses; i++) {
		unsigned number = zipf_next(&zipf);

		clock_now += step;
		lru_access(&lru, number, one_size);
		if (numbered_get(store, number)) {
			hits++;
		} else {
			cr_assert_eq(numbered_put(store, number), 0);
		}
	}
	cr_assert_leq(usage_of(store).bytes, room * FILE_BYTES);
	cr_assert_geq(usage_of(store).bytes, room * FILE_BYTES * 95 / 100);
	ours = 100.0 * hits / accesses;
	exact = 100.0 * lru.hits / accesses;
	cr_log_info("room %u, %u keys, exponent %.1f, %lld s apart: hit rate %.2f %%, exact LRU %.2f %%", room, keys,
	            exponent, (long long)(step / SECOND), ours, exact);
	return ours - exact;
}

STORE_ROW(evict, is_as_good_as_an_exact_lru_in_a_cache_of_200_files,
          cr_assert_gt(compare_with_lru(200, 1500, 0.8, 8000, 60 * SECOND), -3.0))
STORE_ROW(evict, is_as_good_as_an_exact_lru_if_popular_files_fill_most_of_it,
          cr_assert_gt(compare_with_lru(200, 400, 1.0, 6000, 300 * SECOND), -3.0))
STORE_ROW(evict, is_as_good_as_an_exact_lru_if_all_is_replaced_within_an_hour,
          cr_assert_gt(compare_with_lru(200, 1500, 0.8, 8000, 0), -3.0))
STORE_ROW(evict, is_as_good_as_an_exact_lru_with_more_files_than_records,
          cr_assert_gt(compare_with_lru(1500, 6000, 0.8, 10000, 20 * SECOND), -3.0))

Store_test(evict, stays_below_the_cap_after_every_store)
{
	uint64_t cap = 400000;
	struct store *store = fixture_capped(cap);
	uint64_t random = 7;
	uint64_t evicted = 0;
	unsigned stored = 0;

	for (unsigned i = 0; i < 400; i++) {
		size_t bytes =
		    next_random(&random) % 10 ? next_random(&random) % 8000 : next_random(&random) % (cap / 8 - 256);

		clock_now += SECOND;
		cr_assert_eq(numbered_put_sized(store, i, bytes), 0);
		evicted += store_take_evictions(store);
		stored++;
		if (i % 8 == 0 || i > 350) {
			cr_assert_leq(usage_of(store).bytes, cap, "after store %u", i);
		}
	}
	cr_assert_geq(usage_of(store).bytes, cap * 85 / 100, "too much was removed");
	cr_assert_eq(usage_of(store).entries, stored - evicted);
	cr_assert_eq(store_take_evictions(store), 0);
}

Store_test(evict, counts_results_that_are_added_to_a_file_once)
{
	struct store *store = fixture_capped(1 << 20);

	for (int i = 1; i <= 40; i++) {
		clock_now += SECOND;
		cr_assert_eq(fixture_put_sized(store, i, 6000), 0);
	}
	cr_assert_eq(store_take_evictions(store), 0);
	cr_assert_eq(usage_of(store).entries, 1);
}

/* Expects that of the entries below `count` exactly those from number `from` on, and number `too`, exist. */
static void expect_from(unsigned from, unsigned too, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		cr_assert_eq(numbered_exists(i), i >= from || i == too, "entry %u", i);
	}
}

Store_test(evict, begins_with_short_lived_entries_that_had_no_hit)
{
	struct store *store = fixture_capped(10 * FILE_BYTES);

	for (unsigned i = 0; i < 10; i++) {
		clock_now += 60 * SECOND;
		if (i < 5) { /* the oldest */
			cr_assert_eq(numbered_put(store, i + 5), 0);
		} else {
			short_lived_put(store, i - 5);
		}
	}
	clock_now += SECOND;
	cr_assert(numbered_get(store, 2));
	put_apart(store, 10, 14, 60 * SECOND);
	expect_from(5, 2, 14);
}

Store_test(evict, if_all_entries_are_short_lived_the_newest_stay)
{
	struct store *store = fixture_capped(10 * FILE_BYTES);

	for (unsigned i = 0; i < 40; i++) {
		clock_now += SECOND;
		short_lived_put(store, i);
		cr_assert_leq(usage_of(store).bytes, 10 * FILE_BYTES);
		cr_assert(numbered_exists(i));
	}
	expect_from(30, 30, 40);
}

Store_test(evict, a_used_file_with_a_short_lived_result_is_not_evicted_first)
{
	struct store *store = fixture_capped(16 * FILE_BYTES);

	put_range(store, 0, 14);
	short_lived_put(store, 7);
	clock_now += SECOND;
	cr_assert(numbered_put(store, 14) == 0 && numbered_put(store, 15) == 0);
	expect_from(1, 1, 16);
}

Store_test(evict, evicts_by_last_use_and_not_by_last_write)
{
	struct store *store = fixture_capped(10 * FILE_BYTES);

	put_apart(store, 0, 10, 60 * SECOND);
	clock_now += 2 * HOUR;
	cr_assert(numbered_get(store, 0));
	clock_now += 2 * HOUR;
	cr_assert(numbered_get(store, 3));
	clock_now += 2 * HOUR;
	put_apart(store, 10, 18, 60 * SECOND);
	for (unsigned i = 0; i < 10; i++) {
		cr_assert_eq(numbered_exists(i), i == 0 || i == 3, "entry %u", i);
	}
	cr_assert_eq(store_take_evictions(store), 8);
}

/* Returns true if the file's times were set since the last call. Its ctime shows that: reading does not change it. */
static bool times_were_set(const char *path, struct timespec *last)
{
	struct stat found;
	bool set;

	cr_assert_eq(stat(path, &found), 0);
	set = found.st_ctim.tv_sec != last->tv_sec || found.st_ctim.tv_nsec != last->tv_nsec;
	*last = found.st_ctim;
	usleep(10000); /* longer than the clock granularity, so that the next change shows */
	return set;
}

Store_test(evict, a_hit_updates_the_atime_at_most_once_an_hour)
{
	struct store *store = fixture_capped(FIXTURE_MAX_SIZE);
	struct timespec last = {0};
	struct stat before, after;
	char path[500];

	(void)strcpy(path, numbered_path(5));
	cr_assert_eq(numbered_put(store, 5), 0);
	cr_assert_eq(stat(path, &before), 0);
	cr_assert(times_were_set(path, &last));
	clock_now += SECOND;
	cr_assert(numbered_get(store, 5));
	cr_assert(times_were_set(path, &last), "the first hit shows");
	for (int hour = 0; hour < 3; hour++) {
		for (int i = 0; i < 5; i++) {
			clock_now += 700 * SECOND;
			cr_assert(numbered_get(store, 5));
			cr_assert_not(times_were_set(path, &last));
		}
		clock_now += 200 * SECOND;
		cr_assert(numbered_get(store, 5));
		cr_assert(times_were_set(path, &last), "an hour later a hit shows again");
	}
	cr_assert_eq(stat(path, &after), 0);
	cr_assert_eq(before.st_mtim.tv_sec, after.st_mtim.tv_sec);
	cr_assert_eq(before.st_mtim.tv_nsec, after.st_mtim.tv_nsec);
}

Store_test(evict, a_read_only_store_does_not_update_the_atime)
{
	struct store *store = fixture_capped(FIXTURE_MAX_SIZE);
	struct store *reader = fixture_store((struct store_options){.read_only = true, .clock = fixture_clock});
	struct timespec last = {0};
	char path[500];

	(void)strcpy(path, numbered_path(5));
	cr_assert_eq(numbered_put(store, 5), 0);
	(void)times_were_set(path, &last);
	clock_now += 5 * HOUR;
	cr_assert(numbered_get(reader, 5));
	cr_assert_not(times_were_set(path, &last));
}

Store_test(evict, a_stale_result_does_not_update_the_atime)
{
	struct store *store = fixture_capped(FIXTURE_MAX_SIZE);
	struct timespec last = {0};

	cr_assert_eq(fixture_put(store, 1), 0);
	(void)times_were_set(fixture.path, &last);
	clock_now += 5 * HOUR;
	cr_assert_eq(fixture_get(store, 2), -ESTALE);
	cr_assert_not(times_were_set(fixture.path, &last));
}

Store_test(evict, a_file_replaced_after_the_scan_is_not_evicted)
{
	struct store *store = fixture_capped(10 * FILE_BYTES);
	uint8_t *bytes;
	size_t size;

	put_range(store, 0, 10);
	clock_now += 2 * HOUR;
	bytes = fixture_read(numbered_path(0), &size);
	fixture_write(beside("new"), bytes, size);
	free(bytes);
	age_file(beside("new"), 0);
	cr_assert_eq(rename(beside("new"), numbered_path(0)), 0);
	cr_assert_eq(numbered_put(store, 10), 0);
	cr_assert(numbered_exists(0), "the fresh file was taken for the old one");
	cr_assert_not(numbered_exists(1));
}

Store_test(evict, entries_too_large_for_a_lowered_cap_are_evicted_first)
{
	struct store *large = fixture_capped(1 << 20);
	struct store *small = fixture_capped(40 * FILE_BYTES);

	put_apart(large, 0, 30, 0);
	clock_now += 2 * HOUR;
	cr_assert_eq(numbered_put_sized(large, 30, 100000), 0);
	clock_now += SECOND;
	cr_assert_eq(numbered_put(small, 31), 0);
	cr_assert_not(numbered_exists(30));
	cr_assert_eq(usage_of(small).entries, 31);
	cr_assert_eq(store_take_evictions(small), 1);
}

Store_test(evict, times_in_the_future_are_corrected)
{
	struct store *store = fixture_capped(1 << 20);
	struct store_pruned pruned;
	struct stat found;

	for (unsigned i = 0; i < 2; i++) {
		cr_assert_eq(numbered_put(store, i), 0);
		age_file(numbered_path(i), -86400 * 365 * 10);
	}
	cr_assert(numbered_get(store, 0), "by a hit");
	cr_assert_eq(store_prune(store, INT64_MAX, &pruned), 0);
	for (unsigned i = 0; i < 2; i++) {
		cr_assert_eq(stat(numbered_path(i), &found), 0);
		cr_assert_lt(found.st_mtim.tv_sec, clock_now / SECOND + 100);
		cr_assert_lt(found.st_atim.tv_sec, clock_now / SECOND + 100);
	}
}

Store_test(evict, prune_removes_the_oldest_down_to_the_cap)
{
	struct store *store = fixture_capped(1 << 20);
	struct store *small = fixture_capped(100 * FILE_BYTES);
	struct store_pruned pruned;

	cr_assert_eq(store_prune(store, INT64_MAX, &pruned), 0);
	cr_assert_not(fixture_exists(fixture.root));
	put_range(store, 0, 700);
	clock_now += 2 * HOUR;
	cr_assert(numbered_get(store, 17));
	cr_assert_eq(store_prune(small, INT64_MAX, &pruned), 0);
	cr_assert_eq(pruned.removed.entries, 600);
	cr_assert_eq(pruned.removed.bytes, 600 * FILE_BYTES);
	cr_assert_eq(pruned.left.entries, 100);
	cr_assert_eq(pruned.left.bytes, 100 * FILE_BYTES);
	cr_assert_eq(usage_of(store).entries, 100);
	for (unsigned i = 0; i < 700; i++) {
		cr_assert_eq(numbered_exists(i), i == 17 || i >= 601, "entry %u", i);
	}
	cr_assert_eq(store_take_evictions(store), 0);
}

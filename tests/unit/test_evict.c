/* SPDX-License-Identifier: MIT */
/* evict: the cap holds, and the least recently used entries are removed, at a bounded cost */
#include "cache/counters.h"
#include "cache/tools/inventory.h"
#include "evict_fixture.h"
#include "syscalls.h"

#include <dirent.h>

TestSuite(evict, .init = fixture_open, .fini = fixture_close, .timeout = 240);
TestSuite(evict_rate, .init = fixture_open, .fini = fixture_close, .timeout = 240);

/*
 * Compares a cache of `room` files with an exact LRU of that size. `step`: nanoseconds between accesses; 0: real time.
 * Returns our hit rate minus that of the LRU, in percentage points.
 */
static double compare_with_lru(unsigned room, unsigned keys, double exponent, unsigned accesses, int64_t step)
{
	static struct zipf zipf;
	static struct lru lru;
	struct store *store =
	    step ? fixture_capped(room * FILE_BYTES) : fixture_store((struct store){.max_size = room * FILE_BYTES});
	unsigned hits = 0;

	zipf_begin(&zipf, keys, exponent, 1);
	lru = (struct lru){.cap = room, .count = keys};
	for (unsigned i = 0; i < accesses; i++) {
		unsigned number = zipf_next(&zipf);

		clock_now += step;
		lru_access(&lru, number);
		if (numbered_get(store, number)) {
			hits++;
		} else {
			cr_assert_eq(numbered_put(store, number), 0);
		}
	}
	cr_assert_leq(usage_of(store).bytes, room * FILE_BYTES * 102 / 100);
	cr_assert_geq(usage_of(store).bytes, room * FILE_BYTES * 95 / 100);
	cr_log_info("room %u, %u keys, exponent %.1f, %lld s apart: hit rate %.3f, exact LRU %.3f", room, keys,
	            exponent, (long long)(step / SECOND), (double)hits / accesses, (double)lru.hits / accesses);
	return 100.0 * hits / accesses - 100.0 * lru.hits / accesses;
}

STORE_ROW(evict_rate, is_nearly_as_good_as_an_exact_lru_in_a_cache_of_200_files,
          cr_assert_gt(compare_with_lru(200, 1500, 0.8, 4000, 60 * SECOND), -2.0))
STORE_ROW(evict_rate, is_nearly_as_good_as_an_exact_lru_if_popular_files_fill_most_of_it,
          cr_assert_gt(compare_with_lru(200, 400, 1.0, 4000, 300 * SECOND), -2.0))
STORE_ROW(evict_rate, is_nearly_as_good_as_an_exact_lru_if_all_is_replaced_within_an_hour,
          cr_assert_gt(compare_with_lru(200, 1500, 0.8, 4000, 0), -2.0))
STORE_ROW(evict_rate, is_nearly_as_good_as_an_exact_lru_in_a_cache_of_1000_files,
          cr_assert_gt(compare_with_lru(1000, 4000, 0.8, 5000, 20 * SECOND), -2.0))

/* One store in ten is of up to an eighth of the cap, which frees more than eight small entries. */
Store_test(evict, stays_within_a_tenth_of_the_cap_whatever_the_sizes)
{
	uint64_t cap = 400 * FILE_BYTES;
	struct store *store = fixture_capped(cap);
	uint64_t random = 7;
	uint64_t evicted = 0;

	for (unsigned i = 0; i < 1200; i++) {
		uint64_t most = next_random(&random) % 10 ? 2 * FILE_BYTES : cap / 8 - 256;

		clock_now += SECOND;
		cr_assert_eq(numbered_put_sized(store, i, next_random(&random) % most), 0);
		evicted += take_evictions();
		cr_assert(i % 8 != 0 || usage_of(store).bytes <= cap * 110 / 100, "after store %u", i);
	}
	cr_assert_geq(usage_of(store).bytes, cap * 90 / 100, "too much was removed");
	cr_assert_eq(usage_of(store).entries, 1200 - evicted);
}

/* Whatever the order in which the file system gives the names. The first look at the shard says how many they are. */
Store_test(evict, all_names_of_a_large_shard_have_the_same_chance)
{
	const struct directory directory = {.path = fixture.root};
	struct sample_task task = {.directory = &directory, .now = CLOCK_START};
	struct sample sample = {.dry = false};
	unsigned last = 0, place = 0;
	struct dirent *found;
	DIR *names;

	for (unsigned i = 0; i < 300; i++) {
		uint8_t key[ENTRY_KEY_BYTES] = {0x77};

		memcpy(key + 8, &(uint64_t){next_random(&(uint64_t){i})}, 8);
		cr_assert_eq(fixture_put_entry(fixture.store, fixture_entry(key, 1, 10)), 0);
	}
	cr_assert_eq(unlink(in_home("sums")), 0);
	cr_assert_eq(directory_open(&directory, DIRECTORY_REACH, &task.home), 0);
	sample_begin(&sample, &task, SAMPLE_FILES);
	cr_assert_eq(sample_shard(&sample, 0x77), 0);
	sample_settle(&sample);
	cr_assert_eq(sample_shard(&sample, 0x77), 0);
	names = opendir(in_home("77"));
	while ((found = readdir(names)) != NULL) {
		char name[DIRECTORY_NAME_BYTES];

		place++;
		for (size_t i = 0; i < sample.count; i++) {
			directory_name(sample.files[i].key, DIRECTORY_ENTRY, name);
			last += place > 150 && strcmp(name, found->d_name) == 0;
		}
	}
	closedir(names);
	cr_expect(sample.count > 20 && sample.count <= SAMPLE_FILES, "%zu", sample.count);
	cr_expect(last > sample.count / 4 && last < sample.count * 3 / 4, "%u of %zu are in the second half", last,
	          sample.count);
	sample_end(&sample);
	close(task.home);
}

Store_test(evict, small_entries_count_the_blocks_that_they_take)
{
	struct store *store = fixture_capped(100 * FILE_BYTES);

	for (unsigned i = 0; i < 200; i++) {
		clock_now += SECOND;
		cr_assert_eq(numbered_put_sized(store, i, 10), 0);
	}
	cr_assert_leq(usage_of(store).entries, 102);
}

Store_test(evict, evictions_by_entries_from_elsewhere_are_counted)
{
	struct store *store = fixture_capped(10 * FILE_BYTES);

	for (unsigned i = 0; i < 30; i++) {
		struct entry *entry = fixture_entry(numbered_key(i), 1, ENTRY_BYTES);

		cr_assert_eq(inventory_add(store, entry), 0);
		entry_unref(entry);
	}
	cr_assert_eq(counters_here(COUNTER_TOTAL_evictions), 30 - usage_of(store).entries);
}

/* Removes at most eight entries a store until the cache is below the new cap. */
Store_test(evict, a_lowered_cap_is_reached_by_and_by)
{
	struct store *store = fixture_capped(1 << 24), *small;

	put_range(store, 0, 300);
	small = fixture_store((struct store){.max_size = 100 * FILE_BYTES, .clock = fixture_clock});
	for (unsigned i = 300; i < 340; i++) {
		clock_now += SECOND;
		cr_assert_eq(numbered_put(small, i), 0);
		cr_assert_leq(take_evictions(), EVICT_REMOVALS);
	}
	cr_assert_leq(usage_of(small).entries, 102);
}

Store_test(evict, entries_too_large_for_a_lowered_cap_are_evicted_first)
{
	struct store *large = fixture_capped(1 << 22);
	struct store *small = fixture_capped(40 * FILE_BYTES);

	put_apart(large, 0, 14, 0); /* so few that all of them are drawn */
	clock_now += 2 * HOUR;
	cr_assert_eq(numbered_put_sized(large, 14, 30 * FILE_BYTES), 0);
	clock_now += SECOND;
	cr_assert_eq(numbered_put(small, 15), 0);
	cr_assert_not(numbered_exists(14));
	cr_assert_eq(take_evictions(), 1);
}

Store_test(evict, counts_results_that_are_added_to_a_file_once)
{
	struct store *store = fixture_capped(1 << 20);

	for (int i = 1; i <= 40; i++) {
		clock_now += SECOND;
		cr_assert_eq(fixture_put_sized(store, i, 6000), 0);
	}
	cr_assert_eq(take_evictions(), 0);
	cr_assert_eq(noted_of(store).bytes, usage_of(store).bytes);
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
	short_lived_put(store, 20);
	cr_assert(numbered_exists(20), "the newest stays");
}

Store_test(evict, a_used_file_with_a_short_lived_result_is_not_evicted_first)
{
	struct store *store = fixture_capped(16 * FILE_BYTES);

	put_range(store, 0, 14);
	short_lived_put(store, 7); /* two blocks from now on */
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
	cr_assert_eq(take_evictions(), 8);
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

Store_test(evict, a_hit_that_is_read_only_or_out_of_date_does_not_update_the_atime)
{
	struct store *store = fixture_capped(FIXTURE_MAX_SIZE);
	struct store *reader = fixture_store((struct store){.read_only = true, .clock = fixture_clock});
	struct timespec last = {0};

	cr_assert_eq(fixture_put(store, 1), 0);
	(void)times_were_set(fixture.path, &last);
	clock_now += 5 * HOUR;
	cr_assert_eq(fixture_get(reader, 1), 1);
	cr_assert_eq(fixture_get(store, 2), -ESTALE);
	cr_assert_not(times_were_set(fixture.path, &last));
}

Store_test(evict, a_time_in_the_future_is_corrected_by_a_hit_or_goes_first)
{
	struct store *store = fixture_capped(1 << 20);
	struct stat found;

	put_range(store, 0, 4);
	clock_now += 600 * SECOND;
	cr_assert_eq(numbered_put(store, 4), 0);
	clock_now -= 600 * SECOND;
	age_file(numbered_path(2), -86400 * 365 * 20);
	age_file(numbered_path(3), -86400 * 365 * 20);
	cr_assert(numbered_get(store, 2));
	cr_assert_eq(stat(numbered_path(2), &found), 0);
	cr_expect_lt(found.st_mtim.tv_sec, clock_now / SECOND + 100);
	cr_expect_lt(found.st_atim.tv_sec, clock_now / SECOND + 100);
	(void)pruned_of(fixture_capped(4 * FILE_BYTES));
	cr_expect_not(numbered_exists(3));
	cr_expect_eq(usage_of(store).entries, 4);
	(void)pruned_of(fixture_capped(FILE_BYTES));
	cr_expect(numbered_exists(4), "of a clock that is a little ahead");
}

Store_test(evict, stale_temporaries_are_removed_and_live_ones_count)
{
	struct store *store = fixture_capped(20 * FILE_BYTES);

	put_range(store, 0, 20);
	write_aged("77/tmp.1.1", entry_magic, sizeof(entry_magic), 3700);
	write_aged("77/tmp.1.2", entry_magic, sizeof(entry_magic), 0);
	write_aged("77/tmp.1.3", "My thesis", 9, 3700);
	cr_assert_eq(truncate(in_home("77/tmp.1.2"), 10 * FILE_BYTES), 0);
	put_range(store, 20, 340);
	cr_assert_not(fixture_exists(in_home("77/tmp.1.1")));
	cr_assert(fixture_exists(in_home("77/tmp.1.2")));
	cr_assert(fixture_exists(in_home("77/tmp.1.3")));
	cr_assert_leq(usage_of(store).entries, 11);
	cr_assert_eq(unlink(in_home("77/tmp.1.2")) | unlink(in_home("77/tmp.1.3")), 0);
}

#define STEPS 128

static struct syscalls counts[STEPS];

static void put_step(void *context, unsigned step)
{
	clock_now += SECOND;
	(void)numbered_put(context, 100000 + step);
}

static void count_stores(unsigned files)
{
	struct store *store = fixture_capped(files * FILE_BYTES);
	unsigned most = 0, sum = 0, evicted;

	put_range(store, 0, files);
	clock_now += 3 * HOUR;
	skip_unless(syscalls_count(put_step, store, STEPS, counts), "processes may not be traced here");
	evicted = (unsigned)(files + STEPS - usage_of(store).entries);
	for (unsigned i = 0; i < STEPS; i++) {
		cr_assert_leq(counts[i].removed, EVICT_REMOVALS, "store %u", i);
		cr_assert_leq(counts[i].all - counts[i].users, 360, "store %u: %u", i, counts[i].all);
		most = counts[i].all > most ? counts[i].all : most;
		sum += counts[i].all;
	}
	cr_log_info("stores into %u files: %.1f system calls, at most %u; %u evicted", files, (double)sum / STEPS, most,
	            evicted);
	cr_assert_geq(evicted, STEPS - 20);
}

STORE_ROW(evict, a_store_into_200_files_makes_few_system_calls, count_stores(200))
STORE_ROW(evict, a_store_into_1000_files_makes_few_system_calls, count_stores(1000))

static void get_step(void *context, unsigned step)
{
	clock_now += step == 11 ? HOUR : 10 * SECOND;
	(void)numbered_get(context, 1);
}

Store_test(evict, a_hit_makes_one_more_system_call_once_an_hour)
{
	struct store *store = fixture_capped(FIXTURE_MAX_SIZE);

	cr_assert_eq(numbered_put(store, 1), 0);
	skip_unless(syscalls_count(get_step, store, 20, counts), "processes may not be traced here");
	for (unsigned i = 0; i < 20; i++) {
		bool pays = i == 0 || i == 11;

		cr_assert_eq(counts[i].timed, pays, "hit %u", i);
		cr_assert_eq(counts[i].all - counts[i].users, counts[1].all - counts[1].users + pays, "hit %u", i);
	}
	cr_assert_leq(counts[1].all - counts[1].users, 13, "root, v1, shard, file: open, stat, close; read");
	cr_assert_leq(counts[1].users, 4, "whose they are, where they are not root's: hosts change their user");
}

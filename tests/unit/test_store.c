/* SPDX-License-Identifier: MIT */
/* store: entries that were put are found again, by other threads and processes too */
#include "cache/tools/prune.h"
#include "store_fixture.h"
#include "tests/unit/syscalls.h"

TestSuite(store, .init = fixture_open, .fini = fixture_close);

Store_test(store, returns_the_bytes_that_were_put)
{
	static uint8_t large[5000];
	struct section sections[] = {{1, 6, "log", 3}, {2, 0, large, sizeof(large)}, {3, 0, NULL, 0}};
	struct entry *put, *got;
	size_t put_size, got_size;

	memset(large, 7, sizeof(large));
	cr_assert_eq(entry_build(fixture_key, 99, "abc", 3, sections, 3, &put), 0);
	cr_assert_eq(store_put(fixture.store, put), 0);
	cr_assert_eq(store_get(fixture.store, fixture_key, NULL, NULL, &got), 0);
	(void)entry_bytes(put, &put_size);
	(void)entry_bytes(got, &got_size);
	cr_assert_eq(put_size, got_size);
	cr_assert_arr_eq(entry_bytes(put, &put_size), entry_bytes(got, &got_size), put_size);
	entry_unref(put);
	entry_unref(got);
}

Store_test(store, finds_older_results_after_newer_ones)
{
	cr_assert_eq(fixture_put(fixture.store, 1), 0);
	cr_assert_eq(fixture_put(fixture.store, 2), 0);
	cr_assert_eq(fixture_put(fixture.store, 3), 0);
	cr_assert_eq(fixture_get(fixture.store, 0), 3, "the newest comes first");
	cr_assert_eq(fixture_get(fixture.store, 1), 1);
	cr_assert_eq(fixture_get(fixture.store, 2), 2);
	cr_assert_eq(fixture_get(fixture.store, 3), 3);
}

Store_test(store, replaces_a_result_with_the_same_dependencies)
{
	size_t first, second;

	cr_assert_eq(fixture_put(fixture.store, 1), 0);
	cr_assert_eq(fixture_put(fixture.store, 2), 0);
	free(fixture_read(fixture.path, &first));
	cr_assert_eq(fixture_put(fixture.store, 1), 0);
	free(fixture_read(fixture.path, &second));
	cr_assert_eq(first, second);
	cr_assert_eq(fixture_get(fixture.store, 0), 1);
	cr_assert_eq(fixture_get(fixture.store, 2), 2);
}

Store_test(store, stores_the_newest_sixteen_of_seventeen)
{
	size_t sixteen = 0;
	size_t now;

	for (int i = 1; i <= 17; i++) {
		cr_assert_eq(fixture_put(fixture.store, i), 0);
		free(fixture_read(fixture.path, &now));
		sixteen = i == 16 ? now : sixteen;
	}
	cr_assert_eq(now, sixteen);
	cr_assert_eq(fixture_get(fixture.store, 0), 17);
	cr_assert_eq(fixture_get(fixture.store, 1), -ESTALE);
	for (int i = 2; i <= 17; i++) {
		cr_assert_eq(fixture_get(fixture.store, i), i);
	}
}

Store_test(store, results_of_one_key_stay_below_an_eighth_of_the_cap)
{
	struct store *small = fixture_store((struct store){.max_size = UINT64_C(80000)});

	cr_assert_eq(fixture_put_sized(small, 1, 9900), -EFBIG);
	cr_assert_eq(fixture_get(small, 0), -ENOENT);
	cr_assert_eq(fixture_put_sized(small, 1, 4000), 0);
	cr_assert_eq(fixture_put_sized(small, 2, 4000), 0);
	cr_assert_eq(fixture_put_sized(small, 3, 4000), 0);
	cr_assert_eq(fixture_get(small, 3), 3);
	cr_assert_eq(fixture_get(small, 2), 2);
	cr_assert_eq(fixture_get(small, 1), -ESTALE);
}

Store_test(store, what_is_too_large_to_be_stored_is_not_read)
{
	struct store *small = fixture_store((struct store){.max_size = UINT64_C(80000)});

	cr_assert_eq(fixture_put_sized(fixture.store, 1, 9900), 0);
	cr_assert_eq(fixture_get(small, 1), -ENOENT);
	cr_assert_eq(fixture_get(fixture.store, 1), 1, "the file stays");
	cr_assert_eq(fixture_put_sized(small, 2, 4000), 0);
	cr_assert_eq(fixture_get(small, 2), 2);
}

Store_test(store, without_a_cap_a_sparse_file_of_gigabytes_is_not_read)
{
	struct store store = {.directory.path = fixture.root};

	cr_assert_eq(fixture_put(&store, 1), 0);
	cr_assert_eq(truncate(fixture.path, (off_t)1 << 30), 0);
	cr_assert_eq(fixture_get(&store, 1), -ENOENT);
}

Store_test(store, without_a_directory_every_call_fails)
{
	struct store store = {.max_size = 1 << 20}, *none = &store;
	struct store_pruned pruned;
	struct store_usage usage;

	cr_assert_eq(fixture_get(none, 0), -ENXIO);
	cr_assert_eq(fixture_put(none, 1), -ENXIO);
	cr_assert_eq(store_usage(none, &usage), -ENXIO);
	cr_assert_eq(clear_files(none, &pruned), -ENXIO);
}

Store_test(store, a_read_only_store_is_never_written)
{
	struct store *reader = fixture_store((struct store){.read_only = true});
	struct store_pruned pruned;

	cr_assert_eq(fixture_put(reader, 1), -EROFS);
	cr_assert_not(fixture_exists(fixture.root));
	cr_assert_eq(fixture_put(fixture.store, 1), 0);
	cr_assert_eq(fixture_get(reader, 1), 1);
	cr_assert_eq(clear_files(reader, &pruned), -EROFS);
	fixture_write(fixture.path, "damage", 6);
	cr_assert_eq(fixture_get(reader, 1), -EBADMSG);
	cr_assert(fixture_exists(fixture.path));
}

static void put_one(void *context, unsigned step)
{
	(void)fixture_put(fixture.store, 10 + step);
}

Store_test(store, a_process_that_holds_the_locks_is_waited_for_once)
{
	enum { PUTS = 4 };
	struct syscalls counts[PUTS];
	int lock;

	cr_assert_eq(fixture_put(fixture.store, 1), 0);
	lock = fixture_lock();
	skip_unless(syscalls_count(put_one, NULL, PUTS, counts), "no tracing here");
	close(lock);
	cr_expect_gt(counts[0].slept, 0);
	for (int i = 1; i < PUTS; i++) {
		cr_expect_eq(counts[i].slept, 0);
	}
}

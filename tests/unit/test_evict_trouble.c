/* SPDX-License-Identifier: MIT */
/* evict: concurrent and killed processes, lost usage indexes, and files that cannot be removed */
#include "cache/lock.h"
#include "cache/tools/prune.h"
#include "evict_fixture.h"

#include "cache/upkeep/usage_index.h"

TestSuite(evict_trouble, .init = fixture_open, .fini = fixture_close, .timeout = 240);

/* Expects that the usage index agrees with the files of all shards. */
static void expect_index_right(struct store *store)
{
	struct directory directory = {.path = fixture.root};
	struct usage_index *index;
	unsigned unknown;
	int root;

	cr_assert_eq(directory_open(&directory, DIRECTORY_REACH, &root), 0);
	cr_assert_eq(usage_index_load(&directory, root, &index), 0);
	cr_assert_eq(usage_index_total(index, &unknown), usage_of(store).bytes);
	cr_assert_eq(unknown, 0);
	usage_index_free(index);
	close(root);
}

/* Waits for children that must all exit with 0. */
static void expect_all_well(const pid_t *children, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		cr_assert_eq(exit_of(children[i]), 0);
	}
}

Store_test(evict_trouble, concurrent_evictions_do_not_remove_too_much)
{
	uint64_t cap = 100 * FILE_BYTES;
	struct store *store = fixture_store((struct store_options){.max_size = cap});
	pid_t children[4];

	for (unsigned i = 0; i < 4; i++) {
		children[i] = fork();
		if (children[i] == 0) {
			int failed = 0;

			for (unsigned j = 0; j < 150; j++) {
				failed |= numbered_put(store, i * 1000 + j);
			}
			_exit(failed ? 1 : 0);
		}
	}
	expect_all_well(children, 4);
	cr_assert_leq(usage_of(store).bytes, cap * 105 / 100);
	cr_assert_geq(usage_of(store).bytes, cap * 95 / 100, "%llu were removed too much",
	              (unsigned long long)(100 - usage_of(store).entries));
}

Store_test(evict_trouble, a_process_killed_at_any_moment_leaves_a_cache_that_works)
{
	uint64_t cap = 100 * FILE_BYTES;
	struct store *store = fixture_store((struct store_options){.max_size = cap});
	struct store_pruned pruned;
	uint64_t random = 3;

	for (unsigned round = 0; round < 25; round++) {
		pid_t child = fork();
		int status;

		if (child == 0) {
			for (unsigned i = 0;; i++) {
				(void)numbered_put(store, round * 10000 + i);
			}
		}
		usleep(2000 + next_random(&random) % 20000);
		kill(child, SIGKILL);
		cr_assert_eq(waitpid(child, &status, 0), child);
		cr_assert(WIFSIGNALED(status));
		/* each killed process leaves at most one uncounted file, until the next scan of its shard */
		cr_assert_leq(usage_of(store).bytes, cap + (round + 1) * FILE_BYTES, "round %u", round);
		for (unsigned i = 0; i < 100; i++) {
			unsigned number = round * 10000 + i;

			cr_assert(!numbered_exists(number) || numbered_get(store, number), "entry %u is damaged",
			          number);
		}
	}
	for (unsigned i = 0; i < 300; i++) {
		cr_assert_eq(numbered_put(store, 1000000 + i), 0);
	}
	cr_assert_leq(usage_of(store).bytes, cap * 105 / 100);
	cr_assert_geq(usage_of(store).bytes, cap * 90 / 100);
	cr_assert_eq(store_prune(store, INT64_MAX, &pruned), 0);
	expect_index_right(store);
	/* the temporaries of the killed are too young to be swept */
	cr_assert_eq(store_clear(store, &(struct store_usage){0}), 0);
}

Store_test(evict_trouble, a_lost_or_damaged_usage_index_is_rebuilt)
{
	uint64_t cap = 300 * FILE_BYTES;
	struct store *store = fixture_capped(cap);
	size_t size;
	uint8_t *bytes;

	put_range(store, 0, 320);
	expect_index_right(store);
	for (unsigned kind = 0; kind < 4; kind++) {
		bytes = fixture_read(in_home("usage-index"), &size);
		bytes[kind == 0 ? 8 : kind == 1 ? 100 : size - 1] ^= 0x40;
		fixture_write(in_home("usage-index"), bytes, kind == 2 ? size / 2 : size);
		free(bytes);
		if (kind == 3) {
			unlink(in_home("usage-index"));
		}
		put_range(store, 1000 + kind * 1000, 1000 + kind * 1000 + 300);
		cr_assert_leq(usage_of(store).bytes, cap);
		cr_assert_geq(usage_of(store).bytes, cap * 95 / 100);
		expect_index_right(store);
	}
}

Store_test(evict_trouble, removes_little_while_the_usage_index_is_being_rebuilt)
{
	uint64_t cap = 300 * FILE_BYTES;
	struct store *store = fixture_capped(cap);

	put_range(store, 0, 200);
	unlink(in_home("usage-index"));
	for (unsigned i = 0; i < 90; i++) {
		clock_now += SECOND;
		cr_assert_eq(numbered_put(store, 5000 + i), 0);
		cr_assert_leq(store_take_evictions(store), 2);
	}
	cr_assert_leq(usage_of(store).bytes, cap);
}

Store_test(evict_trouble, stays_near_the_cap_without_a_usage_index)
{
	struct store *store = fixture_capped(600 * FILE_BYTES);

	put_range(store, 0, 1);
	unlink(in_home("usage-index"));
	cr_assert_eq(mkdir(in_home("usage-index"), 0700), 0);
	fixture_write(in_home("usage-index/full"), "", 0);
	put_range(store, 1, 1500);
	cr_assert_leq(usage_of(store).entries, 900);
	cr_assert_geq(usage_of(store).entries, 400);
}

Store_test(evict_trouble, files_removed_by_other_processes_are_noticed_by_later_scans)
{
	struct store *store = fixture_capped(200 * FILE_BYTES);
	uint64_t evicted, before;

	put_range(store, 0, 200);
	for (unsigned i = 0; i < 200; i += 2) {
		cr_assert_eq(unlink(numbered_path(i)), 0);
	}
	before = usage_of(store).entries;
	put_range(store, 1000, 1080);
	evicted = store_take_evictions(store);
	cr_log_info("%llu were evicted of %llu", (unsigned long long)evicted, (unsigned long long)before);
	cr_assert_leq(evicted, 40, "scans do not set the sum right");
	cr_assert_eq(usage_of(store).entries, before + 80 - evicted);
	put_range(store, 1080, 1300);
	cr_assert_eq(usage_of(store).entries, 200);
	expect_index_right(store);
}

static void shard_path(unsigned number, char ret_path[500])
{
	(void)strcpy(ret_path, numbered_path(number));
	*strrchr(ret_path, '/') = '\0';
}

Store_test(evict_trouble, a_removed_shard_is_tolerated)
{
	struct store *store = fixture_capped(200 * FILE_BYTES);
	char path[500];
	unsigned refused = 0;

	put_range(store, 0, 200);
	shard_path(0, path);
	cr_assert_eq(rename(path, beside("away")), 0);
	put_range(store, 1000, 1400);
	cr_assert_leq(usage_of(store).bytes, 200 * FILE_BYTES);
	cr_assert_geq(usage_of(store).bytes, 190 * FILE_BYTES);
	shard_path(1, path);
	cr_assert_eq(rename(path, beside("away too")), 0);
	fixture_write(path, "", 0);
	for (unsigned i = 2000; i < 2400; i++) {
		clock_now += SECOND;
		refused += numbered_put(store, i) != 0;
	}
	cr_assert_lt(refused, 20, "only what belongs to that shard");
	cr_assert_eq(unlink(path), 0);
	cr_assert_leq(usage_of(store).bytes, 200 * FILE_BYTES);
	cr_assert_geq(usage_of(store).bytes, 190 * FILE_BYTES);
}

Store_test(evict_trouble, stores_go_on_if_another_process_holds_the_lock)
{
	struct store *store = fixture_capped(10 * FILE_BYTES);
	struct store_pruned pruned;
	int lock;

	put_range(store, 0, 10);
	lock = fixture_lock_range((off_t)LOCK_USAGE_INDEX, 1);
	put_range(store, 10, 12);
	cr_assert_eq(usage_of(store).entries, 12);
	cr_assert_eq(store_prune(store, INT64_MAX, &pruned), -EAGAIN);
	close(lock);
	cr_assert_eq(store_prune(store, INT64_MAX, &pruned), 0);
	cr_assert_eq(usage_of(store).entries, 10);
}

Store_test(evict_trouble, an_entry_locked_by_a_put_is_not_evicted)
{
	struct store *store = fixture_capped(10 * FILE_BYTES);
	int lock;

	put_range(store, 0, 10);
	lock = lock_number(0);
	put_range(store, 10, 15);
	cr_assert(numbered_exists(0));
	cr_assert_not(numbered_exists(1));
	close(lock);
}

/* Runs `body` in a child, which may become another user; 77: not possible here. */
static void body_in_child(int (*body)(struct store *store))
{
	struct store *store = fixture_capped(60 * FILE_BYTES);
	int status = in_child(body(store));

	skip_unless(status != 77, "another user, or a mount namespace, cannot be had here");
	cr_assert_eq(status, 0);
}

/* Files of the five oldest entries' shards cannot be removed, so files of other shards must be. */
static int fill_past_refusing_shards(struct store *store, bool (*refuse)(const char *shard))
{
	char path[500];

	for (unsigned i = 0; i < 60; i++) {
		clock_now += SECOND;
		if (numbered_put(store, i) != 0) {
			return 2;
		}
	}
	for (unsigned i = 0; i < 5; i++) {
		shard_path(i, path);
		if (!refuse(path)) {
			return 77;
		}
	}
	for (unsigned i = 100; i < 300; i++) {
		clock_now += SECOND;
		(void)numbered_put(store, i);
	}
	for (unsigned i = 0; i < 5; i++) {
		if (!numbered_exists(i)) {
			return 3;
		}
	}
	return usage_of(store).bytes <= 60 * FILE_BYTES ? 0 : 4;
}

static bool take_permission(const char *shard)
{
	return chmod(shard, 0500) == 0;
}

static int without_permission(struct store *store)
{
	if (geteuid() == 0 && (chown(fixture.base, 65534, 65534) != 0 || setgid(65534) != 0 || setuid(65534) != 0)) {
		return 77;
	}
	return fill_past_refusing_shards(store, take_permission);
}

STORE_ROW(evict_trouble, skips_files_that_it_may_not_remove, body_in_child(without_permission))

static bool mount_read_only(const char *shard)
{
	return mount(shard, shard, NULL, MS_BIND, NULL) == 0 &&
	       mount(NULL, shard, NULL, MS_BIND | MS_REMOUNT | MS_RDONLY, NULL) == 0;
}

static int on_read_only_mounts(struct store *store)
{
	if (unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0) {
		return 77;
	}
	return fill_past_refusing_shards(store, mount_read_only);
}

STORE_ROW(evict_trouble, skips_files_on_a_read_only_file_system, body_in_child(on_read_only_mounts))

/* SPDX-License-Identifier: MIT */
/* evict: concurrent and killed processes, lost sums, full disks, and files that cannot be removed */
#include "cache/calls.h"
#include "cache/lock.h"
#include "evict_fixture.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>

TestSuite(evict_trouble, .init = fixture_open, .fini = fixture_close, .timeout = 240);

#define CAP (100 * FILE_BYTES)

/* What stands in place of the sums, and whether the stores that follow write new ones there. */
static void expect_rebuilt(struct store *store, unsigned from)
{
	put_range(store, from, from + 300);
	cr_assert_leq(usage_of(store).bytes, 3 * CAP * 102 / 100);
	cr_assert_geq(usage_of(store).bytes, 3 * CAP * 95 / 100);
	cr_assert_leq(noted_of(store).bytes, usage_of(store).bytes * 102 / 100);
	cr_assert_geq(noted_of(store).bytes, usage_of(store).bytes * 98 / 100);
}

Store_test(evict_trouble, lost_and_damaged_sums_are_rebuilt)
{
	const struct directory directory = {.path = fixture.root};
	struct store *store = fixture_capped(3 * CAP);
	struct sums sums;
	size_t size;
	uint8_t *bytes;
	int home;

	put_range(store, 0, 320);
	bytes = fixture_read(in_home("sums"), &size);
	for (size_t i = 16; i < size; i += 16) {
		bytes[i + 5] ^= 0x40; /* each claims petabytes */
	}
	fixture_write(in_home("sums"), bytes, size);
	free(bytes);
	expect_rebuilt(store, 1000);
	cr_assert_eq(truncate(in_home("sums"), 0), 0);
	expect_rebuilt(store, 2000);
	cr_assert_eq(unlink(in_home("sums")), 0);
	expect_rebuilt(store, 3000);
	cr_assert_eq(unlink(in_home("sums")) | symlink("elsewhere", in_home("sums")), 0);
	expect_rebuilt(store, 4000);
	cr_assert_eq(directory_open(&directory, DIRECTORY_REACH, &home), 0);
	sums_open(&directory, home, SUMS_WRITE, &sums);
	for (unsigned shard = 0; shard < DIRECTORY_SHARDS; shard++) {
		sums.shards[shard].bytes = 0; /* no entry could be examined */
		sums_note(&sums, shard);
	}
	sums_flush(&sums);
	close(sums.file);
	close(home);
	expect_rebuilt(store, 5000);
}

Store_test(evict_trouble, the_file_of_another_program_in_place_of_the_sums_stays)
{
	struct store *store = fixture_capped(CAP);
	size_t size;
	uint8_t *bytes;

	put_range(store, 0, 1);
	fixture_write(in_home("sums"), "My thesis, chapter one", 22);
	put_range(store, 1, 20);
	bytes = fixture_read(in_home("sums"), &size);
	cr_assert_eq(size, 22);
	free(bytes);
	cr_assert_eq(noted_of(store).entries, 20);
}

Store_test(evict_trouble, without_a_file_of_sums_the_size_is_bounded)
{
	struct store *store = fixture_capped(CAP);

	put_range(store, 0, 1);
	cr_assert_eq(unlink(in_home("sums")) | mkdir(in_home("sums"), 0700), 0);
	put_range(store, 1, 600);
	cr_expect_leq(usage_of(store).bytes, 2 * CAP);
	cr_expect_geq(usage_of(store).bytes, CAP / 2);
	cr_assert_eq(rmdir(in_home("sums")), 0);
}

Store_test(evict_trouble, files_removed_by_hand_are_noticed_by_later_samples)
{
	struct store *store = fixture_capped(2 * CAP);

	put_range(store, 0, 200);
	for (unsigned i = 0; i < 200; i += 2) {
		cr_assert_eq(unlink(numbered_path(i)), 0);
	}
	put_range(store, 1000, 1600);
	cr_assert_leq(noted_of(store).bytes, usage_of(store).bytes * 105 / 100);
	cr_assert_geq(usage_of(store).entries, 190);
}

Store_test(evict_trouble, stores_go_on_and_do_not_evict_while_another_process_does)
{
	struct store *store = fixture_capped(20 * FILE_BYTES);
	int lock;

	put_range(store, 0, 20);
	lock = fixture_lock_range((off_t)LOCK_EVICTION, 1);
	put_range(store, 20, 22);
	cr_assert_eq(usage_of(store).entries, 22);
	close(lock);
	put_range(store, 22, 23);
	cr_assert_eq(usage_of(store).entries, 20);
}

Store_test(evict_trouble, a_store_far_above_the_cap_waits_for_the_process_that_evicts)
{
	struct store *store = fixture_capped(20 * FILE_BYTES);
	int64_t begin;
	int lock;

	put_range(store, 0, 20);
	lock = fixture_lock_range((off_t)LOCK_EVICTION, 1);
	put_range(store, 20, 22);
	begin = call_clock_straight();
	put_range(store, 22, 23);
	cr_assert_geq(call_clock_straight() - begin, SECOND / 10);
	close(lock);
}

/* Runs `body` in a child, which may become another user or mount something; 77: not possible here. */
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
	put_range(store, 0, 60);
	for (unsigned i = 0; i < 5; i++) {
		char path[500];

		(void)strcpy(path, numbered_path(i));
		*strrchr(path, '/') = '\0';
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
	return usage_of(store).bytes <= 62 * FILE_BYTES ? 0 : 4;
}

static bool take_permission(const char *shard)
{
	return chmod(shard, 0500) == 0;
}

static int without_permission(struct store *store)
{
	if (geteuid() == 0 && (chown(fixture.base, 65533, 65533) != 0 || setgid(65533) != 0 || setuid(65533) != 0)) {
		return 77;
	}
	return fill_past_refusing_shards(store, take_permission);
}

STORE_ROW(evict_trouble, skips_files_that_it_may_not_remove, body_in_child(without_permission))

static bool have_mounts(void)
{
	return unshare(CLONE_NEWNS) == 0 && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0;
}

/* The file system is full before the cap is reached. */
static int fill_file_system(struct store *store, const char *options, size_t size)
{
	if (!have_mounts() || mkdir(fixture.root, 0700) != 0 || mount("none", fixture.root, "tmpfs", 0, options) != 0) {
		return 77;
	}
	for (unsigned i = 0; i < 600; i++) {
		clock_now += SECOND;
		if (numbered_put_sized(store, i, size) != 0 || !numbered_get(store, i)) {
			return 2;
		}
	}
	return take_evictions() > 0 && !numbered_exists(0) ? 0 : 4;
}

static int without_blocks_for_large_ones(struct store *store)
{
	(void)store;
	return fill_file_system(fixture.store, "mode=700,size=4m", 30 * FILE_BYTES);
}

static int without_inodes(struct store *store)
{
	(void)store;
	return fill_file_system(fixture.store, "mode=700,nr_inodes=400", 10);
}

/* Answers EDQUOT to each creation of a temporary file. */
static bool set_quota(void)
{
	struct sock_filter code[] = {
	    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_openat, 0, 3),
	    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
	    BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, O_EXCL, 0, 1),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EDQUOT),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = {COUNT(code), code};

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

static int without_quota(struct store *store)
{
	put_range(store, 0, 20);
	if (!set_quota()) {
		return 77;
	}
	return numbered_put(store, 20) == -EDQUOT && take_evictions() > 2 && !numbered_exists(0) ? 0 : 5;
}

STORE_ROW(evict_trouble, an_exhausted_quota_evicts_a_bounded_number_of_times, body_in_child(without_quota))
STORE_ROW(evict_trouble, a_full_file_system_makes_room_for_large_entries, body_in_child(without_blocks_for_large_ones))
STORE_ROW(evict_trouble, a_file_system_without_inodes_does_not_freeze_the_cache, body_in_child(without_inodes))

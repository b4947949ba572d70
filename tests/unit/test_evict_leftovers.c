/* SPDX-License-Identifier: MIT */
/* evict: files other than entries: stale and live temporary files, and foreign files */
#include "cache/tools/prune.h"
#include "evict_fixture.h"

TestSuite(evict_leftovers, .init = fixture_open, .fini = fixture_close, .timeout = 240);

static void write_aged(const char *name, int64_t seconds)
{
	char path[500];

	(void)snprintf(path, sizeof(path), "%s", in_home(name));
	*strrchr(path, '/') = '\0';
	(void)mkdir(path, 0700);
	fixture_write(in_home(name), entry_magic, sizeof(entry_magic));
	age_file(in_home(name), seconds);
}

/* Returns the id of a child that has ended. */
static pid_t dead_pid(void)
{
	pid_t child = fork();

	if (child == 0) {
		_exit(0);
	}
	cr_assert_eq(waitpid(child, NULL, 0), child);
	return child;
}

static const char *temporary(pid_t pid, int number)
{
	static char name[4][60];

	(void)snprintf(name[number], sizeof(name[0]), "77/tmp.%d.%016x", (int)pid, (unsigned)number);
	return name[number];
}

Store_test(evict_leftovers, stale_temporaries_are_removed_and_live_ones_are_not)
{
	struct store *store = fixture_capped(20 * FILE_BYTES);
	pid_t dead = dead_pid();

	put_range(store, 0, 20);
	write_aged(temporary(dead, 0), 120);
	write_aged(temporary(getpid(), 1), 120);
	write_aged(temporary(getpid(), 2), 3700);
	write_aged(temporary(dead, 3), 20);
	put_range(store, 20, 300);
	cr_assert_not(fixture_exists(in_home(temporary(dead, 0))), "the dead one's");
	cr_assert(fixture_exists(in_home(temporary(getpid(), 1))), "the living one's");
	cr_assert_not(fixture_exists(in_home(temporary(getpid(), 2))), "the old one");
	cr_assert(fixture_exists(in_home(temporary(dead, 3))) || clock_now - now_ns() > 40 * SECOND, "the young one");
	unlink(in_home(temporary(getpid(), 1)));
	unlink(in_home(temporary(dead, 3)));
}

Store_test(evict_leftovers, temporaries_with_future_times_get_the_present_time)
{
	struct store *store = fixture_capped(20 * FILE_BYTES);
	struct store_pruned pruned;
	struct stat found;

	put_range(store, 0, 20);
	write_aged("77/tmp.1.1", -48 * 3600);
	cr_assert_eq(store_prune(store, INT64_MAX, &pruned), 0);
	cr_assert(fixture_exists(in_home("77/tmp.1.1")), "it may be live");
	cr_assert_eq(stat(in_home("77/tmp.1.1"), &found), 0);
	cr_assert_lt(found.st_mtim.tv_sec, clock_now / SECOND + 60);
	clock_now += 2 * HOUR;
	put_range(store, 20, 30);
	cr_assert_eq(store_prune(store, INT64_MAX, &pruned), 0);
	cr_assert_not(fixture_exists(in_home("77/tmp.1.1")));
}

Store_test(evict_leftovers, live_temporaries_count_towards_the_cap)
{
	struct store *store = fixture_capped(20 * FILE_BYTES);

	put_range(store, 0, 20);
	write_aged("77/tmp.1.1", 0);
	cr_assert_eq(truncate(in_home("77/tmp.1.1"), 10 * FILE_BYTES), 0);
	put_range(store, 20, 340);
	cr_assert_leq(usage_of(store).bytes, 20 * FILE_BYTES);
	cr_assert_eq(usage_of(store).entries, 10);
	unlink(in_home("77/tmp.1.1"));
}

/* Files named like ours but without our first bytes are foreign. */
static const char digits62[] = "0123456789012345678901234567890123456789012345678901234567890a";

Store_test(evict_leftovers, foreign_files_are_never_removed)
{
	static const char *const others[] = {
	    "77/thesis.tex", "77/.nfs000000000000000100000001", "77/tmp.notes", "../v2", "stray", "account.txt"};
	struct store *store = fixture_capped(400 * FILE_BYTES), *small;
	struct store_pruned pruned;
	struct store_usage removed;
	char shaped[2][80];

	put_range(store, 0, 10);
	for (size_t i = 0; i < COUNT(others); i++) {
		write_aged(others[i], 7200);
	}
	(void)snprintf(shaped[0], sizeof(shaped[0]), "77/%s", digits62);
	(void)snprintf(shaped[1], sizeof(shaped[1]), "77/tmp.1.0123456789abcdef");
	for (size_t i = 0; i < 2; i++) {
		write_aged(shaped[i], 0);
		fixture_write(in_home(shaped[i]), "My thesis, chapter one.", 23);
		age_file(in_home(shaped[i]), 7200);
	}
	cr_assert_eq(store_prune(store, INT64_MAX, &pruned), 0);
	cr_assert_eq(pruned.removed.entries + pruned.removed.temporaries, 0);
	cr_assert_eq(pruned.foreign, 4);
	put_range(store, 10, 800);
	small = fixture_capped(1);
	cr_assert_eq(store_prune(small, INT64_MAX, &pruned), 0);
	cr_assert_eq(store_clear(store, &removed), 0);
	cr_assert_eq(removed.foreign, 2);
	for (size_t i = 0; i < COUNT(others); i++) {
		cr_assert(fixture_exists(in_home(others[i])), "%s", others[i]);
	}
	for (size_t i = 0; i < 2; i++) {
		cr_assert(fixture_exists(in_home(shaped[i])), "%s", shaped[i]);
		unlink(in_home(shaped[i]));
	}
	unlink(in_home("../v2"));
}

Store_test(evict_leftovers, empty_files_named_like_entries_are_removed)
{
	struct store *store = fixture_capped(400 * FILE_BYTES);
	struct store_usage removed;
	char shaped[80];

	put_range(store, 0, 10);
	(void)snprintf(shaped, sizeof(shaped), "77/%s", digits62);
	write_aged(shaped, 0);
	fixture_write(in_home(shaped), "", 0);
	cr_assert_eq(store_clear(store, &removed), 0);
	cr_assert_eq(removed.foreign, 0);
	cr_assert_not(fixture_exists(in_home(shaped)));
}

/* SPDX-License-Identifier: MIT */
/* discard: removes only the file that was inspected, and only while no put holds its lock */
#include "store_fixture.h"

#include "cache/calls.h"
#include "cache/lock.h"
#include "cache/store.h"

#include <sys/prctl.h>

TestSuite(discard, .init = fixture_open, .fini = fixture_close);

static struct directory directory = {.path = fixture.root};
static const char *name;

/* Returns the stat of the entry's file, as a reader found it. */
static struct stat found_file(void)
{
	struct stat found;

	cr_assert_eq(fixture_put(fixture.store, 1), 0);
	cr_assert_eq(lstat(fixture.path, &found), 0);
	name = strrchr(fixture.path, '/') + 1;
	return found;
}

static int discard(const struct stat *seen)
{
	int home, shard, rc;

	cr_assert_eq(directory_open(&directory, DIRECTORY_REACH, &home), 0);
	cr_assert_eq(directory_open_shard(&directory, home, fixture_key[0], DIRECTORY_REACH, &shard), 0);
	rc = store_discard(&directory, home, shard, fixture_key, name, seen);
	close(shard);
	close(home);
	return rc;
}

Store_test(discard, the_inspected_file_is_removed)
{
	struct stat seen = found_file();

	cr_assert_eq(discard(&seen), 0);
	cr_assert_not(fixture_exists(fixture.path));
	cr_assert_eq(discard(&seen), -EAGAIN);
}

Store_test(discard, a_file_written_meanwhile_is_not_removed)
{
	struct stat seen = found_file();
	struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, seen.st_mtim};

	times[1].tv_nsec ^= 1;
	cr_assert_eq(utimensat(AT_FDCWD, fixture.path, times, 0), 0);
	cr_assert_eq(discard(&seen), -EAGAIN);
	times[1].tv_nsec ^= 1;
	times[1].tv_sec++;
	cr_assert_eq(utimensat(AT_FDCWD, fixture.path, times, 0), 0);
	cr_assert_eq(discard(&seen), -EAGAIN);
	cr_assert(fixture_exists(fixture.path));
}

Store_test(discard, another_file_of_equal_size_and_time_is_not_removed)
{
	struct stat seen = found_file();
	struct timespec times[2] = {seen.st_atim, seen.st_mtim};
	const char *other = beside("other");

	fixture_write(other, "", 0);
	cr_assert_eq(truncate(other, seen.st_size), 0);
	cr_assert_eq(utimensat(AT_FDCWD, other, times, 0), 0);
	cr_assert_eq(rename(other, fixture.path), 0);
	cr_assert_eq(discard(&seen), -EAGAIN);
	cr_assert(fixture_exists(fixture.path));
	cr_assert_eq(unlink(fixture.path), 0);
}

Store_test(discard, a_file_locked_by_a_put_is_not_removed)
{
	struct stat seen = found_file();
	int home, lock;

	cr_assert_eq(directory_open(&directory, DIRECTORY_REACH, &home), 0);
	cr_assert_eq(lock_take(&directory, home, fixture_key, 0, &lock), 0);
	skip_unless(lock >= 0, "no locks on this file system");
	cr_assert_eq(discard(&seen), -EAGAIN);
	cr_assert(fixture_exists(fixture.path));
	lock_release(lock);
	close(home);
	cr_assert_eq(discard(&seen), 0);
}

/* As in a service with TimerSlackNSec=50ms. */
Store_test(discard, a_put_waits_for_a_lock_by_the_clock_and_not_by_the_number_of_its_pauses)
{
	int home, lock;
	int64_t began;

	(void)found_file();
	cr_assert_eq(directory_open(&directory, DIRECTORY_REACH, &home), 0);
	cr_assert_eq(lock_take(&directory, home, fixture_key, 0, &lock), 0);
	skip_unless(lock >= 0, "no locks on this file system");
	cr_assert_eq(prctl(PR_SET_TIMERSLACK, 50000000), 0);
	began = call_clock_straight();
	cr_expect_eq(fixture_put(fixture.store, 2), 0);
	cr_expect_lt(call_clock_straight() - began, INT64_C(10000000000), "400 pauses take 20 s");
	lock_release(lock);
	close(home);
}

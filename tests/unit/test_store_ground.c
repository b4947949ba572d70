/* SPDX-License-Identifier: MIT */
/* store: a cache is not created where it was not asked for */
#include "cache/events.h"
#include "cache/trust.h"
#include "store_fixture.h"

TestSuite(store_ground, .init = fixture_open, .fini = fixture_close);

static bool go_to(const char *jail)
{
	static struct directory directory;

	directory.path = fixture.root;
	events_open(&directory, getpid());
	counters_add(COUNTER_TOTAL_misses, 1);
	return chroot(jail) == 0 && chdir("/") == 0;
}

Store_test(store_ground, is_not_created_after_a_chroot)
{
	const char *jail = beside("jail");

	cr_assert_eq(mkdir(jail, 0700), 0);
	ground_settle(fixture.root, 0, false);
	/* counts are recorded at exit */
	expect_in_child(go_to(jail), fixture_put(fixture.store, 1) == -ENXIO &&
	                                 events_tell_counts(EVENTS_NOW) == -ENXIO &&
	                                 fixture_get(fixture.store, 1) == -ENOENT);
	cr_expect_eq(rmdir(jail), 0, "something was made in it");
	cr_expect_eq(fixture_put(fixture.store, 1), 0, "who has not gone");
}

/* The default place: <home>/.cache/nvrtccache. */
static struct store *store_below(const char *home)
{
	const char *path = fixture_name(home, "", ".cache/nvrtccache");

	ground_settle(path, strlen(home), true);
	return fixture_store((struct store){.directory.path = path});
}

Store_test(store_ground, is_created_in_an_existing_home_and_not_in_a_missing_one)
{
	const char *home = beside("home");
	struct store *store = store_below(home);

	cr_expect_eq(fixture_put(store, 1), -ENXIO);
	cr_expect_not(fixture_exists(home));
	cr_assert_eq(mkdir(home, 0700), 0);
	cr_expect_eq(fixture_put(store, 1), 0);
	cr_expect_eq(fixture_get(store, 1), 1);
}

static const char *make_home(void)
{
	const char *home = beside("home");

	cr_assert_eq(mkdir(home, 0700), 0);
	return home;
}

/* sudo without -H: the user could not remove what root creates there, and other programs could not write in it. */
Store_test(store_ground, is_not_created_in_a_home_of_another_user)
{
	const char *home = make_home();
	struct store *store;

	skip_unless(chown(home, 12345, 12345) == 0, "directories cannot be given to another user here");
	store = store_below(home);
	cr_expect_eq(fixture_put(store, 1), -ENXIO);
	cr_expect_eq(rmdir(home), 0, "something was made in it");
}

Store_test(store_ground, an_existing_cache_in_a_home_of_another_user_is_used)
{
	const char *home = make_home();
	struct store *store;

	store = store_below(home);
	cr_assert_eq(fixture_put(store, 1), 0);
	if (chown(home, 12345, 12345) == 0) {
		cr_expect_eq(fixture_get(store, 1), 1);
		cr_expect_eq(fixture_put(store, 2), 0);
	}
}

/* As $XDG_CACHE_HOME/nvrtccache. */
static struct store *store_in(const char *base)
{
	const char *path = fixture_name(base, "", "nvrtccache");

	ground_settle(path, strlen(base), false);
	return fixture_store((struct store){.directory.path = path});
}

Store_test(store_ground, a_missing_xdg_cache_home_is_created)
{
	cr_expect_eq(fixture_put(store_in(beside("home/.cache")), 1), 0);
}

/* sudo -E */
Store_test(store_ground, is_not_created_in_an_xdg_cache_home_of_another_user)
{
	const char *home = make_home();

	skip_unless(chown(home, 12345, 12345) == 0, "directories cannot be given to another user here");
	cr_expect_eq(fixture_put(store_in(home), 1), -ENXIO);
	cr_expect_eq(fixture_put(store_in(fixture_name(home, "", ".cache")), 1), -ENXIO, "nor in a missing one");
	cr_expect_eq(rmdir(home), 0, "something was made in it");
}

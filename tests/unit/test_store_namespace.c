/* SPDX-License-Identifier: MIT */
/* store: a user namespace, in which every unmapped user looks like 65534 */
#include "cache/trust.h"
#include "store_fixture.h"

#define NOBODY   65534
#define STRANGER 5000

TestSuite(store_namespace, .init = fixture_open, .fini = fixture_close);

static bool write_map(const char *path, const char *map)
{
	int file = open(path, O_WRONLY | O_CLOEXEC);
	bool done = file >= 0 && write(file, map, strlen(map)) == (ssize_t)strlen(map);

	if (file >= 0) {
		close(file);
	}
	return done;
}

/* Only root outside is mapped: to the user in `map`. */
static bool enter_namespace(const char *map)
{
	return unshare(CLONE_NEWUSER) == 0 && write_map("/proc/self/setgroups", "deny") &&
	       write_map("/proc/self/uid_map", map) && write_map("/proc/self/gid_map", map);
}

static bool become_nobody_in_a_namespace(void)
{
	return enter_namespace("65534 0 1") && geteuid() == NOBODY;
}

static bool become_root_in_a_namespace(void)
{
	return enter_namespace("0 0 1") && geteuid() == 0;
}

static bool become_nobody(void)
{
	return setgroups(0, NULL) == 0 && setgid(NOBODY) == 0 && setuid(NOBODY) == 0;
}

static void give_all_to(uid_t id, mode_t more)
{
	const char *const places[] = {"", "v1", "v1/ab"};

	cr_assert_eq(chmod(fixture.base, 0755), 0);
	for (size_t i = 0; i < COUNT(places); i++) {
		const char *path = inside(places[i]);

		skip_unless(chown(path, id, id) == 0, "files cannot be given to another user here");
		cr_assert_eq(chmod(path, 0755 | more), 0);
	}
	cr_assert_eq(chown(fixture.path, id, id), 0);
	cr_assert_eq(chmod(fixture.path, 0644 | (more & 0666)), 0);
}

#define FOUND_AND_ADDED (fixture_get(fixture.store, 1) == 1 && fixture_put(fixture.store, 2) == 0)

Store_test(store_namespace, the_overflow_user_does_not_trust_files_of_unmapped_users)
{
	cr_assert_eq(fixture_put(fixture.store, 1), 0);
	give_all_to(STRANGER, 0);
	expect_in_child(become_nobody_in_a_namespace(), fixture_get(fixture.store, 1) == -EPERM);
}

Store_test(store_namespace, the_overflow_user_does_not_trust_files_shared_by_unmapped_groups)
{
	struct store *shared = fixture_store((struct store){.directory.shared = true});

	cr_assert_eq(fixture_put(fixture.store, 1), 0);
	give_all_to(STRANGER, 0020);
	expect_in_child(become_nobody_in_a_namespace(), fixture_get(shared, 1) == -EPERM);
}

STORE_ROW(store_namespace, the_overflow_user_does_not_create_an_untrusted_cache,
          expect_in_child(become_nobody_in_a_namespace(),
                          fixture_put(fixture.store, 1) == -ENXIO && !fixture_exists(fixture.root)))

Store_test(store_namespace, a_mapped_user_uses_its_cache)
{
	cr_assert_eq(fixture_put(fixture.store, 1), 0);
	expect_in_child(become_root_in_a_namespace(), FOUND_AND_ADDED);
}

/* It may be the user of unmapped files on an idmapped mount. */
Store_test(store_namespace, the_overflow_user_trusts_no_file_of_its_own)
{
	cr_assert_eq(fixture_put(fixture.store, 1), 0);
	give_all_to(NOBODY, 0);
	expect_in_child(become_nobody(), fixture_get(fixture.store, 1) == -EPERM);
}

/* SPDX-License-Identifier: MIT */
/* store: a cache shared by a group whose members are also in other groups */
#include "cache/trust.h"
#include "store_fixture.h"

#include <ftw.h>
#include <pthread.h>

#define MEMBER       1000
#define STRANGER     1003
#define TEAM         2000 /* the group of the cache's root directory */
#define EVERYBODYS   100  /* the first group of members and of strangers */
#define SHARED_STORE ((struct store){.directory.shared = true})

TestSuite(store_shared, .init = fixture_open, .fini = fixture_close);

enum membership { IN_TEAM, NOT_IN_TEAM };

static void give(const char *path, uid_t user, gid_t group, mode_t mode)
{
	cr_assert_eq(chown(path, user, group), 0);
	cr_assert_eq(chmod(path, mode), 0, "%s", path);
}

static void make_root(uid_t user, mode_t mode)
{
	skip_unless(geteuid() == 0, "root is needed, to become several users");
	cr_assert_eq(chmod(fixture.base, 0755), 0);
	cr_assert_eq(mkdir(fixture.root, 0700), 0);
	give(fixture.root, user, TEAM, mode);
}

static struct store *members; /* what a member opened */

static bool become_member(enum membership membership)
{
	const gid_t team = TEAM;

	if (setgroups(membership == IN_TEAM, &team) != 0 || setgid(EVERYBODYS) != 0 || setuid(MEMBER) != 0) {
		return false;
	}
	(void)umask(0022);
	members = fixture_store(SHARED_STORE);
	return true;
}

/* Expects that something holds in a process of a member. */
#define as_member(membership, truth) expect_in_child(become_member(membership), truth)

#define PUT_AND_GOT     (fixture_put(members, 1) == 0 && fixture_get(members, 1) == 1)
#define TRUSTED_NOTHING (fixture_get(members, 1) == -EPERM)

static mode_t directory_mode;
static mode_t file_mode;
static gid_t group_made;

static int expect_made(const char *path, const struct stat *found, int type, struct FTW *where)
{
	if (where->level > 0) {
		cr_expect_eq(found->st_gid, group_made, "%s has group %u", path, (unsigned)found->st_gid);
		cr_expect_eq(found->st_mode & 07777, type == FTW_F ? file_mode : directory_mode, "%s has mode %o", path,
		             (unsigned)found->st_mode & 07777);
	}
	return 0;
}

static void expect_all_made(gid_t group, mode_t directories, mode_t files)
{
	group_made = group;
	directory_mode = directories;
	file_mode = files;
	cr_assert(fixture_exists(fixture.path) && fixture_exists(inside("v1/sums")) &&
	          fixture_exists(inside("v1/lock")));
	cr_assert_eq(nftw(fixture.root, expect_made, 8, FTW_PHYS), 0);
}

/* What a member makes in a root directory of this user and mode. */
static void expect_made_in(uid_t user, mode_t mode, enum membership membership, gid_t group, mode_t directories,
                           mode_t files)
{
	make_root(user, mode);
	as_member(membership, PUT_AND_GOT);
	expect_all_made(group, directories, files);
}

STORE_ROW(store_shared, all_created_files_have_the_group_of_the_root_even_without_setgid,
          expect_made_in(0, 0770, IN_TEAM, TEAM, 02770, 0660))
STORE_ROW(store_shared, all_created_files_have_the_group_of_the_root,
          expect_made_in(0, 02770, IN_TEAM, TEAM, 02770, 0660))
STORE_ROW(store_shared, created_files_give_the_group_no_more_rights_than_the_root,
          expect_made_in(MEMBER, 0755, IN_TEAM, TEAM, 02750, 0640))
STORE_ROW(store_shared, files_that_cannot_get_the_group_of_the_root_are_private,
          expect_made_in(MEMBER, 0770, NOT_IN_TEAM, EVERYBODYS, 0700, 0600))

/* The creator may be killed right after the creation, and other members must be able to remove the file. */
Store_test(store_shared, files_with_the_right_group_are_created_with_their_final_mode)
{
	int place;

	make_root(0, 02770);
	place = open(fixture.root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	cr_expect_eq(trust_first_mode(true, place, 0666), 0660);
	cr_expect_eq(trust_first_mode(true, place, 0777), 0770);
	cr_expect_eq(trust_first_mode(false, place, 0777), 0700);
	give(fixture.root, 0, TEAM, 0770);
	cr_expect_eq(trust_first_mode(true, place, 0666), 0600, "our own group, not the team's");
	close(place);
}

static void make_cache(void)
{
	make_root(0, 02770);
	as_member(IN_TEAM, PUT_AND_GOT);
}

/* After another owner or mode of something in the cache. */
static void expect_refused(const char *path, uid_t user, gid_t group, mode_t mode)
{
	make_cache();
	give(path, user, group, mode);
	as_member(IN_TEAM, TRUSTED_NOTHING);
}

static void make_place_of_member(const char *path, gid_t group, mode_t mode)
{
	cr_assert_eq(mkdir(path, 0700), 0);
	give(path, MEMBER, group, mode);
}

Store_test(store_shared, the_empty_home_of_a_killed_creator_gets_its_mode_at_its_next_store)
{
	make_root(0, 02770);
	make_place_of_member(inside("v1"), EVERYBODYS, 0700);
	as_member(IN_TEAM, fixture_put(members, 1) == 0);
	expect_all_made(TEAM, 02770, 0660);
}

Store_test(store_shared, the_empty_shard_of_a_killed_creator_gets_its_mode_at_its_next_store)
{
	make_root(0, 02770);
	make_place_of_member(inside("v1"), TEAM, 02770);
	make_place_of_member(inside("v1/ab"), TEAM, 02750);
	as_member(IN_TEAM, fixture_put(members, 1) == 0);
	expect_all_made(TEAM, 02770, 0660);
}

/* Another member may have renamed it: the root is not sticky. */
Store_test(store_shared, a_private_directory_with_content_is_not_opened_to_the_group)
{
	struct stat found;
	int file;

	make_root(0, 02770);
	make_place_of_member(inside("v1"), EVERYBODYS, 0700);
	file = open(inside("v1/secret"), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	cr_assert_geq(file, 0);
	close(file);
	as_member(IN_TEAM, (fixture_put(members, 1), true));
	cr_assert_eq(stat(inside("v1"), &found), 0);
	cr_expect_eq(found.st_mode & 07777, 0700);
	cr_expect_eq(found.st_gid, EVERYBODYS);
}

static void *get_first(void *store)
{
	return fixture_get(store, 1) == 1 ? store : NULL;
}

/* group_member() of glibc takes more of the stack. */
static bool got_in_small_thread(void)
{
	pthread_attr_t small;
	pthread_t thread;
	void *got = NULL;

	return pthread_attr_init(&small) == 0 && pthread_attr_setstacksize(&small, 128 << 10) == 0 &&
	       pthread_create(&thread, &small, get_first, members) == 0 && pthread_join(thread, &got) == 0 && got;
}

Store_test(store_shared, entries_of_another_member_are_found_in_a_thread_with_a_small_stack)
{
	make_cache();
	give(inside("v1"), STRANGER, TEAM, 02770);
	give(inside("v1/ab"), STRANGER, TEAM, 02770);
	give(fixture.path, STRANGER, TEAM, 0660);
	as_member(IN_TEAM, got_in_small_thread());
}

STORE_ROW(store_shared, a_home_writable_by_another_group_is_not_used,
          expect_refused(inside("v1"), MEMBER, EVERYBODYS, 02770))
STORE_ROW(store_shared, a_shard_writable_by_another_group_is_not_used,
          expect_refused(inside("v1/ab"), MEMBER, EVERYBODYS, 02770))
STORE_ROW(store_shared, an_entry_writable_by_another_group_is_not_used,
          expect_refused(fixture.path, MEMBER, EVERYBODYS, 0660))
STORE_ROW(store_shared, an_entry_of_another_user_in_another_group_of_ours_is_not_used,
          expect_refused(fixture.path, STRANGER, EVERYBODYS, 0644))

/* The shard agrees with its parent directory, but the parent does not agree with the root. */
Store_test(store_shared, a_shard_reachable_and_writable_by_another_group_is_not_used)
{
	make_cache();
	give(inside("v1"), MEMBER, EVERYBODYS, 0750);
	give(inside("v1/ab"), MEMBER, EVERYBODYS, 02770);
	as_member(IN_TEAM, TRUSTED_NOTHING);
}

Store_test(store_shared, locks_and_sums_writable_by_another_group_are_not_written)
{
	static const char *const names[] = {"v1/lock", "v1/sums"};

	make_cache();
	for (size_t i = 0; i < COUNT(names); i++) {
		(void)unlink(inside(names[i]));
		fixture_write(inside(names[i]), "", 0);
		give(inside(names[i]), MEMBER, EVERYBODYS, 0660);
	}
	as_member(IN_TEAM, PUT_AND_GOT);
	for (size_t i = 0; i < COUNT(names); i++) {
		struct stat found;

		cr_assert_eq(stat(inside(names[i]), &found), 0);
		cr_expect(found.st_size == 0 || found.st_gid == TEAM, "%s", names[i]);
	}
}

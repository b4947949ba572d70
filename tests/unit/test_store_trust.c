/* SPDX-License-Identifier: MIT */
/* store: trusted owners and modes, the modes that it sets, and system calls that fail */
#include "cache/tools/prune.h"
#include "store_fixture.h"

TestSuite(store_trust, .init = fixture_open, .fini = fixture_close);

static mode_t mode_of(const char *path)
{
	struct stat found;

	cr_assert_eq(lstat(path, &found), 0, "%s", path);
	return found.st_mode & 07777;
}

static void expect_made_with(mode_t umask_mode, bool shared)
{
	struct store *store = fixture_store((struct store){.directory.shared = shared});
	mode_t kept = umask(umask_mode);
	int rc = fixture_put(store, 1);

	umask(kept);
	cr_assert_eq(rc, 0);
	cr_assert_eq(mode_of(fixture.root), shared ? 02770 : 0700);
	cr_assert_eq(mode_of(inside("v1")), shared ? 02770 : 0700);
	cr_assert_eq(mode_of(inside("v1/ab")), shared ? 02770 : 0700);
	cr_assert_eq(mode_of(fixture.path), shared ? 0660 : 0600);
	cr_assert_eq(mode_of(inside("v1/lock")), shared ? 0660 : 0600);
	cr_assert_eq(fixture_get(store, 1), 1);
}

STORE_ROW(store_trust, creates_a_private_directory_with_an_open_umask, expect_made_with(0, false))
STORE_ROW(store_trust, creates_a_private_directory_with_a_closed_umask, expect_made_with(0777, false))
STORE_ROW(store_trust, creates_a_shared_directory_with_any_umask, expect_made_with(0077, true))

Store_test(store_trust, creates_missing_parents)
{
	struct store *deep = fixture_store((struct store){.directory.path = beside("a/b/c//")});

	cr_assert_eq(fixture_get(deep, 1), -ENOENT);
	cr_assert_eq(fixture_put(deep, 1), 0);
	cr_assert_eq(fixture_get(deep, 1), 1);
}

Store_test(store_trust, marks_the_directory_with_a_cachedir_tag)
{
	static const char signature[] = "Signature: 8a477f597d28d172789f06886806bc55";
	size_t size;
	uint8_t *text;

	cr_assert_eq(fixture_put(fixture.store, 1), 0);
	text = fixture_read(inside("CACHEDIR.TAG"), &size);
	cr_assert(size > sizeof(signature) && memcmp(text, signature, sizeof(signature) - 1) == 0);
	free(text);
}

Store_test(store_trust, does_not_mark_a_directory_that_it_did_not_create)
{
	cr_assert_eq(mkdir(fixture.root, 0700), 0);
	cr_assert_eq(fixture_put(fixture.store, 1), 0);
	cr_assert_not(fixture_exists(inside("CACHEDIR.TAG")));
}

Store_test(store_trust, rejects_a_root_writable_by_others)
{
	static const mode_t modes[] = {0720, 0702, 0777, 01777};
	struct store *shared = fixture_store((struct store){.directory.shared = true});
	struct store_pruned pruned;

	cr_assert_eq(fixture_put(fixture.store, 1), 0);
	for (size_t i = 0; i < COUNT(modes); i++) {
		cr_assert_eq(chmod(fixture.root, modes[i]), 0);
		cr_assert_eq(fixture_get(fixture.store, 1), -EPERM);
		cr_assert_eq(fixture_put(fixture.store, 2), -EPERM);
		cr_assert_eq(clear_files(fixture.store, &pruned), -EPERM);
		cr_assert_eq(fixture_get(shared, 1), modes[i] & 2 ? -EPERM : 1, "mode %o", modes[i]);
	}
	cr_assert(fixture_exists(fixture.path));
}

Store_test(store_trust, rejects_a_shard_writable_by_others)
{
	cr_assert_eq(fixture_put(fixture.store, 1), 0);
	cr_assert_eq(chmod(inside("v1/ab"), 0777), 0);
	cr_assert_eq(fixture_put(fixture.store, 2), -EPERM);
	cr_assert_eq(fixture_get(fixture.store, 1), -EPERM);
}

/* A member of the group that shares the directory can replace directories by links. */
static void expect_link_refused(const char *place)
{
	struct store *shared = fixture_store((struct store){.directory.shared = true});
	struct store_pruned pruned;
	char victim[300], theirs[700];

	cr_assert_eq(fixture_put(shared, 1), 0);
	(void)snprintf(victim, sizeof(victim), "%s/victim", fixture.base);
	cr_assert_eq(rename(inside(place), victim), 0);
	cr_assert_eq(symlink(victim, inside(place)), 0);
	(void)snprintf(theirs, sizeof(theirs), "%s/%s", victim, fixture.path + strlen(inside(place)) + 1);
	cr_assert_eq(chmod(victim, 0700), 0);
	cr_assert(fixture_exists(theirs));
	cr_expect_eq(fixture_get(shared, 1), -ENOTDIR);
	cr_expect_eq(fixture_put(shared, 2), -ENOTDIR);
	cr_expect_neq(clear_files(shared, &pruned), 0);
	(void)prune_files(shared, INT64_MAX, &pruned);
	cr_expect(fixture_exists(theirs), "%s", place);
	cr_assert_eq(unlink(inside(place)), 0);
	cr_expect_eq(fixture_get(shared, 1), -ENOENT);
	cr_assert_eq(fixture_put(shared, 3), 0);
}

STORE_ROW(store_trust, does_not_follow_a_link_in_place_of_its_home, expect_link_refused("v1"))
STORE_ROW(store_trust, does_not_follow_a_link_in_place_of_a_shard, expect_link_refused("v1/ab"))

Store_test(store_trust, does_not_follow_links_in_a_private_cache)
{
	static const char *const places[] = {"v1/ab", "v1"};
	char moved[300];

	cr_assert_eq(fixture_put(fixture.store, 1), 0);
	(void)snprintf(moved, sizeof(moved), "%s/moved", fixture.base);
	for (size_t i = 0; i < COUNT(places); i++) {
		cr_assert_eq(rename(inside(places[i]), moved), 0);
		cr_assert_eq(symlink(moved, inside(places[i])), 0);
		cr_expect_eq(fixture_get(fixture.store, 1), -ENOTDIR, "%s", places[i]);
		cr_assert_eq(unlink(inside(places[i])), 0);
		cr_assert_eq(rename(moved, inside(places[i])), 0);
		cr_expect_eq(fixture_get(fixture.store, 1), 1);
	}
}

Store_test(store_trust, rejects_a_home_writable_by_others)
{
	cr_assert_eq(fixture_put(fixture.store, 1), 0);
	cr_assert_eq(chmod(inside("v1"), 0777), 0);
	cr_assert_eq(fixture_get(fixture.store, 1), -EPERM);
	cr_assert_eq(fixture_put(fixture.store, 2), -EPERM);
}

/* If the system allows hard links to other users' files, a member can link one under a name of ours. */
Store_test(store_trust, does_not_write_files_with_a_second_hard_link)
{
	static const char *const names[] = {"v1/sums", "v1/lock", "v1/compile-lock"};
	struct store *shared = fixture_store((struct store){.directory.shared = true});
	char victim[300];
	size_t size;

	cr_assert_eq(fixture_put(shared, 1), 0);
	(void)snprintf(victim, sizeof(victim), "%s/victim", fixture.base);
	fixture_write(victim, "", 0);
	for (size_t i = 0; i < COUNT(names); i++) {
		(void)unlink(inside(names[i]));
		cr_assert_eq(link(victim, inside(names[i])), 0);
	}
	cr_assert_eq(fixture_put(shared, 2), 0);
	free(fixture_read(victim, &size));
	cr_expect_eq(size, 0);
	cr_expect_eq(mode_of(victim), 0600);
}

/* Another thread or prlimit may change the limit at any time, so a check before the write is not enough. */
Store_test(store_trust, a_file_size_limit_of_zero_at_creation_does_not_kill_the_process)
{
	struct rlimit limit;

	cr_assert_eq(getrlimit(RLIMIT_FSIZE, &limit), 0);
	limit.rlim_cur = 0;
	(void)signal(SIGXFSZ, SIG_DFL);
	cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	cr_assert_eq(fixture_put(fixture.store, 1), -EFBIG);
	limit.rlim_cur = limit.rlim_max;
	cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	cr_assert_not(fixture_exists(inside("CACHEDIR.TAG")));
	cr_assert_eq(fixture_put(fixture.store, 1), 0);
}

Store_test(store_trust, rejects_a_root_that_is_a_symbolic_link)
{
	struct store *store;

	cr_assert_eq(mkdir(beside("other"), 0700), 0);
	cr_assert_eq(symlink(beside("other"), fixture.root), 0);
	cr_assert_eq(fixture_put(fixture.store, 1), -ENOTDIR);
	cr_assert_eq(fixture_get(fixture.store, 1), -ENOTDIR);
	store = fixture_store((struct store){.directory.path = inside("")});
	cr_assert_eq(fixture_put(store, 1), -ENOTDIR);
}

Store_test(store_trust, rejects_and_removes_an_entry_writable_by_others)
{
	cr_assert_eq(fixture_put(fixture.store, 1), 0);
	cr_assert_eq(chmod(fixture.path, 0620), 0);
	cr_assert_eq(fixture_get(fixture.store, 1), -EPERM);
	cr_assert_not(fixture_exists(fixture.path));
}

Store_test(store_trust, rejects_files_of_another_user)
{
	struct store *shared = fixture_store((struct store){.directory.shared = true});

	cr_assert_eq(fixture_put(fixture.store, 1), 0);
	skip_unless(chown(fixture.path, 12345, getegid()) == 0, "files cannot be given to another user here");
	cr_assert_eq(fixture_get(shared, 1), 1, "a member of our group");
	cr_assert_eq(chown(fixture.path, 12345, 12345), 0);
	cr_assert_eq(fixture_get(fixture.store, 1), -EPERM);
	cr_assert_not(fixture_exists(fixture.path));
	cr_assert_eq(fixture_put(fixture.store, 1), 0);
	cr_assert_eq(chown(fixture.root, 12345, 12345), 0);
	cr_assert_eq(fixture_get(fixture.store, 1), -EPERM);
	cr_assert_eq(fixture_put(fixture.store, 1), -EPERM);
	cr_assert_eq(fixture_get(shared, 1), -EPERM, "a group that we are not in");
}

static bool become_nobody(void)
{
	return geteuid() == 0 && setgid(65533) == 0 && setuid(65533) == 0;
}

Store_test(store_trust, reads_but_does_not_write_a_cache_of_root)
{
	cr_assert_eq(fixture_put(fixture.store, 1), 0);
	cr_assert_eq(chmod(fixture.base, 0755), 0);
	expect_in_child(become_nobody(),
	                fixture_get(fixture.store, 1) == -EACCES && fixture_put(fixture.store, 2) == -EACCES);
	cr_assert_eq(chmod(fixture.root, 0755), 0);
	cr_assert_eq(chmod(inside("v1"), 0755), 0);
	cr_assert_eq(chmod(inside("v1/ab"), 0755), 0);
	cr_assert_eq(chmod(fixture.path, 0644), 0);
	expect_in_child(become_nobody(),
	                fixture_get(fixture.store, 1) == 1 && fixture_put(fixture.store, 2) == -EACCES);
}

static int files[32]; /* of the main thread */

static void *put_with_own_descriptors(void *store)
{
	if (unshare(CLONE_FILES) != 0 || close_range((unsigned)files[0], ~0u, 0) != 0) {
		return NULL;
	}
	(void)umask(0400);
	return fixture_put(store, 1) == 0 ? store : NULL;
}

/* In /proc/self/fd are the main thread's descriptors. The umask lets the store change modes by a path there. */
Store_test(store_trust, no_mode_of_another_threads_file_changes)
{
	const char *path = beside("file");
	struct stat found;
	pthread_t thread;
	void *done;

	for (size_t i = 0; i < COUNT(files); i++) {
		files[i] = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
		cr_assert_geq(files[i], 0);
	}
	cr_assert_eq(pthread_create(&thread, NULL, put_with_own_descriptors, fixture.store), 0);
	cr_assert_eq(pthread_join(thread, &done), 0);
	(void)umask(0022);
	cr_expect_eq(done, fixture.store);
	for (size_t i = 0; i < COUNT(files); i++) {
		close(files[i]);
	}
	cr_assert_eq(stat(path, &found), 0);
	cr_expect_eq(found.st_mode & 07777, 0600);
}

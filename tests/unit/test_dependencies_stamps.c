/* SPDX-License-Identifier: MIT */
/* Dependencies: when a stamp is accepted, for which credentials, and when it is renewed. */
#include "keygen/dependencies_format.h"
#include "keygen/dependencies_sights.h"
#include "tests/unit/mount_fixture.h"
#include "tests/unit/syscalls.h"

#include <sys/prctl.h>

TestSuite(dependencies_stamps, .init = tree_begin, .fini = tree_end);

/* Asserts that all stamps were accepted and no file was read. */
#define assert_believed()                   \
	cr_assert(holds_anew(), "%s", why); \
	cr_assert_null(anew)
#define assert_read()                       \
	cr_assert(holds_anew(), "%s", why); \
	cr_assert_not_null(anew)

static struct fixed_stamps stamps_of(const struct stream *dependencies)
{
	struct fixed_stamps stamps;

	memcpy(&stamps, dependencies->bytes + DEPENDENCIES_STAMPS_AT, sizeof(stamps));
	return stamps;
}

Test(dependencies_stamps, stamps_taken_on_this_node_replace_reading)
{
	build_one("int a;");
	assert_believed();
}

Test(dependencies_stamps, another_image_at_the_same_place_with_equal_times_does_not_hold)
{
	skip_unless(put_images(SQUASHFS) && mount_image(1, "ro"), "squashfs cannot be mounted here");
	see_header(in_tree("mnt/a.h"));
	build();
	bool held = holds();
	cr_assert(unmount_image() && mount_image(2, "ro"));
	bool other = holds();
	cr_assert(unmount_image() && mount_image(1, "ro"));
	bool again = holds();
	cr_assert(unmount_image());
	cr_expect(held && again, "%s", why);
	cr_expect_not(other, "the content of another image");
}

Test(dependencies_stamps, another_raw_image_of_a_writable_file_system_does_not_hold)
{
	skip_unless(put_images(SMALL_EXT4) && mount_image(1, "rw,noatime"), "ext4 cannot be mounted here");
	see_header(in_tree("mnt/a.h"));
	build();
	bool held = holds_anew();
	bool believed = anew == NULL;
	cr_assert(unmount_image() && mount_image(2, "rw,noatime"));
	bool other = holds();
	cr_assert(unmount_image());
	cr_expect(held && believed, "%s", why);
	cr_expect_not(other, "the content of another image");
}

Test(dependencies_stamps, after_another_boot_a_file_is_read_once_and_gets_a_new_stamp)
{
	build_one("int a;");
	built.bytes[DEPENDENCIES_STAMPS_AT] ^= 1;
	usleep(50000); /* a file as new as the check is not settled */
	assert_read();
	take_anew();
	assert_believed();
}

Test(dependencies_stamps, a_copy_with_another_stamp_is_read_once_and_gets_a_new_stamp)
{
	build_one("int a;");
	cr_assert_eq(rename(in_tree("a.h"), in_tree("old.h")), 0);
	put_file(in_tree("a.h"), "int a;");
	usleep(50000); /* a file as new as the check is not settled */
	assert_read();
	take_anew();
	assert_believed();
	put_file(in_tree("a.h"), "int b;");
	assert_not("a.h");
}

Test(dependencies_stamps, a_file_as_new_as_the_check_gets_no_new_stamp)
{
	struct timespec future = {.tv_sec = (time_t)(now_ns() / SECOND_NS) + 3600};

	build_one("int a;");
	cr_assert_eq(utimensat(AT_FDCWD, in_tree("a.h"), (struct timespec[]){future, future}, 0), 0);
	cr_assert(holds_anew());
	cr_assert_null(anew);
}

Test(dependencies_stamps, an_empty_file_is_always_read)
{
	build_one("");
	const uint8_t *digest = memmem(built.bytes, built.size, "a.h", 3);
	cr_assert_not_null(digest);
	built.bytes[built.size - 1] ^= 1; /* the last byte of the digest, which is compared only after reading */
	assert_not("header changed");
}

Test(dependencies_stamps, an_equal_settled_stamp_replaces_the_digest)
{
	build_one("int a;");
	built.bytes[built.size - 1] ^= 1;
	assert_believed();
}

Test(dependencies_stamps, both_mounts_of_one_tree_are_recorded)
{
	struct fixed_stamps stamps;

	put_directory(in_tree("mem"));
	skip_unless(mount("none", in_tree("mem"), "tmpfs", 0, NULL) == 0, "nothing can be mounted here");
	put_seen(in_tree("mem/a.h"), "int a;");
	put_seen(in_tree("b.h"), "int b;");
	build();
	stamps = stamps_of(&built);
	bool believed = holds_anew() && !anew;
	cr_assert_eq(umount(in_tree("mem")), 0);
	cr_expect_eq(stamps.mounts, 2);
	cr_expect(believed);
}

/* Two nodes have the same files with different stamps. */
Test(dependencies_stamps, dependencies_of_two_nodes_are_equal_except_for_stamps)
{
	struct stream first;

	build_twin();
	first = take_built();
	begin_trace();
	trace.start_ns += SECOND_NS;
	cr_assert_eq(rename(in_tree("p1"), in_tree("gone")), 0);
	put_directory(in_tree("p1"));
	put_directory(in_tree("p1/sub"));
	put_file(in_tree("p1/sub/b.h"), "int b;");
	put_file(in_tree("p1/a.h"), "int a;");
	see_twin();
	build();
	cr_assert_eq(first.size, built.size);
	cr_assert_neq(memcmp(first.bytes, built.bytes, built.size), 0);
	cr_expect(dependencies_same(first.bytes, first.size, built.bytes, built.size));
	put_file(in_tree("p1/a.h"), "int x;");
	begin_trace();
	see_twin();
	build();
	cr_expect_not(dependencies_same(first.bytes, first.size, built.bytes, built.size), "another content");
	stream_free(&first);
}

Test(dependencies_stamps, in_exact_mode_times_are_compared_and_not_cleared)
{
	struct stream first;

	input.exact = true;
	build_one("int a;");
	first = take_built();
	begin_trace();
	cr_assert_eq(utimensat(AT_FDCWD, in_tree("a.h"), (struct timespec[]){{.tv_sec = 1}, {.tv_sec = 1}}, 0), 0);
	see_header(in_tree("a.h"));
	build();
	cr_expect_not(dependencies_same(first.bytes, first.size, built.bytes, built.size));
	dependencies_forget(built.bytes, built.size);
	cr_expect(holds(), "%s", why);
	dependencies_forget(first.bytes, first.size);
	cr_expect_not(dependencies_hold(first.bytes, first.size, &tree_roots, NULL, 0));
	stream_free(&first);
}

Test(dependencies_stamps, cleared_stamps_are_zero_and_are_renewed)
{
	static const struct fixed_stamps none;
	struct fixed_stamps stamps;

	build_one("int a;");
	dependencies_forget(built.bytes, built.size);
	stamps = stamps_of(&built);
	cr_expect_eq(memcmp(&stamps, &none, sizeof(none)), 0);
	usleep(50000);
	assert_read();
	take_anew();
	assert_believed();
}

static bool lately_elsewhere(const struct fixed_stamps *before, const struct fixed_stamps *after)
{
	uint8_t old[DEPENDENCIES_STAMPS_AT + sizeof(*before)] = {0};
	uint8_t now[sizeof(old)] = {0};

	memcpy(old + DEPENDENCIES_STAMPS_AT, before, sizeof(*before));
	memcpy(now + DEPENDENCIES_STAMPS_AT, after, sizeof(*after));
	return dependencies_lately_elsewhere(old, now, sizeof(old));
}

Test(dependencies_stamps, recent_stamps_of_another_node_or_container_are_not_replaced)
{
	struct fixed_stamps here, there;

	build_one("int a;");
	here = stamps_of(&built);
	cr_expect_not(lately_elsewhere(&here, &here), "this is the node");
	there = here;
	there.boot[0] ^= 1;
	cr_expect(lately_elsewhere(&there, &here), "another node");
	there.taken_ns -= 61 * SECOND_NS;
	cr_expect_not(lately_elsewhere(&there, &here), "long ago");
	there = here;
	there.mounts = 1;
	there.mount[0].device ^= 1;
	here.mounts = 2;
	here.mount[1] = there.mount[0];
	cr_expect(lately_elsewhere(&there, &here), "another container, whose mount was kept");
	there.taken_ns -= 61 * SECOND_NS;
	cr_expect_not(lately_elsewhere(&there, &here), "long ago");
	memset(&there, 0, sizeof(there));
	cr_expect_not(lately_elsewhere(&there, &here), "nobody's");
}

Test(dependencies_stamps, renewed_stamps_drop_a_mount_in_which_a_stamp_differed)
{
	struct sights sights = {.sight = {{.mount = {.device = 7, .number = 1, .kind = MOUNT_NUMBERED}}}, .count = 1};
	struct fixed_stamps old = {.mounts = 2,
	                           .mount = {{.device = 7, .number = 2, .kind = MOUNT_NUMBERED},
	                                     {.device = 8, .number = 3, .kind = MOUNT_NUMBERED}}};
	struct fixed_stamps renewed;

	skip_unless(mount_boot(old.boot), "this system does not name its boot");
	sights_renew(&sights, &old, &renewed);
	cr_expect_eq(renewed.mounts, 3, "all was as recorded");
	sights.sight[0].changed = true;
	sights_renew(&sights, &old, &renewed);
	cr_expect_eq(renewed.mounts, 2, "what lies in the device's other mount may be another too");
	cr_expect(mount_same(&renewed.mount[1], &old.mount[1]));
	old.boot[0] ^= 1;
	sights_renew(&sights, &old, &renewed);
	cr_expect_eq(renewed.mounts, 1, "of another boot");
}

static bool landlock_by_anybody(void)
{
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && restrict_reading();
}

Test(dependencies_stamps, a_header_forbidden_by_landlock_does_not_hold)
{
	build_one("int a;");
	assert_believed();
	expect_in_child(landlock_by_anybody(), !holds());
}

Test(dependencies_stamps, a_header_forbidden_to_root_by_landlock_without_no_new_privs_does_not_hold)
{
	build_one("int a;");
	assert_believed();
	expect_in_child(restrict_reading(), !holds());
}

/* Reading gives EINVAL where no module gives labels. */
static bool has_no_label(void)
{
	char label;
	int file = open("/proc/thread-self/attr/current", O_RDONLY | O_CLOEXEC);
	bool has_none = file < 0 || read(file, &label, sizeof(label)) < 0;

	(void)close(file);
	return has_none;
}

enum step { ROOT_PREPARES, ROOT_CHECKS, ROOT_BECOMES_NOBODY, NOBODY_CHECKS, NOBODY_CHECKS_AGAIN, STEPS };

static void take_step(void *context, unsigned step)
{
	bool fine = step == ROOT_PREPARES         ? chmod(tree, 0755) == 0
	            : step == ROOT_BECOMES_NOBODY ? become_nobody()
	                                          : holds();

	(void)context;
	if (!fine) {
		_exit(1);
	}
}

Test(dependencies_stamps, a_header_is_not_opened_again_by_a_thread_that_cannot_add_rules)
{
	struct syscalls counts[STEPS];
	unsigned again;

	build_one("int a;");
	assert_believed();
	skip_unless(geteuid() == 0 && has_no_label(), "needs root, and a system that gives no labels");
	skip_unless(syscalls_count(take_step, NULL, STEPS, counts), "nothing can be traced here");
	again = counts[NOBODY_CHECKS_AGAIN].all;
	cr_expect_leq(again + 2, counts[NOBODY_CHECKS].all, "open and close at first");
	cr_expect_leq(again + 2, counts[ROOT_CHECKS].all, "open and close by a thread that can add rules");
}

Test(dependencies_stamps, a_header_forbidden_by_landlock_after_a_hit_does_not_hold)
{
	build_one("int a;");
	cr_assert_eq(chmod(tree, 0755), 0);
	expect_in_child(become_nobody() && holds() && holds() && landlock_by_anybody(), !holds());
}

Test(dependencies_stamps, a_header_forbidden_by_an_access_control_list_does_not_hold)
{
	struct stat found;

	cr_assert_eq(chmod(tree, 0755), 0);
	put_file(in_tree("a.h"), "int a;");
	skip_unless(setxattr(in_tree("a.h"), "system.posix_acl_access", &refusing_list, sizeof(refusing_list), 0) == 0,
	            "no access control lists here");
	cr_assert_eq(stat(in_tree("a.h"), &found), 0);
	cr_assert_eq(found.st_mode & 0777, 0644);
	see_header(in_tree("a.h"));
	build();
	assert_believed();
	expect_in_child(become_nobody(), !holds());
}

/* SPDX-License-Identifier: MIT */
/* Dependencies: when a stamp replaces reading a file, and for which credentials. */
#include "tests/unit/mount_fixture.h"
#include "tests/unit/syscalls.h"

#include <sys/prctl.h>

TestSuite(dependencies_stamps, .init = tree_begin, .fini = tree_end);

/* Asserts that the dependencies hold, and that no file was read. */
#define assert_believed() cr_assert_eq(bytes_read(), 0, "%s", why)
#define assert_read()     cr_assert_eq(bytes_read(), 6, "%s", why)

Test(dependencies_stamps, what_the_compiler_read_is_not_read_again)
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
	int read = bytes_read();
	cr_assert(unmount_image() && mount_image(2, "rw,noatime"));
	bool other = holds();
	cr_assert(unmount_image());
	cr_expect_eq(read, 0, "%s", why);
	cr_expect_not(other, "the content of another image");
}

Test(dependencies_stamps, a_copy_with_another_stamp_is_read_once)
{
	build_one("int a;");
	cr_assert_eq(rename(in_tree("a.h"), in_tree("old.h")), 0);
	put_file(in_tree("a.h"), "int a;");
	usleep(50000); /* a file as new as the check is not settled */
	assert_read();
	assert_believed();
	put_file(in_tree("a.h"), "int b;");
	assert_not("a.h");
}

Test(dependencies_stamps, a_file_as_new_as_the_check_is_read_each_time)
{
	struct timespec future = {.tv_sec = (time_t)(now_ns() / SECOND_NS) + 3600};

	build_one("int a;");
	cr_assert_eq(utimensat(AT_FDCWD, in_tree("a.h"), (struct timespec[]){future, future}, 0), 0);
	assert_read();
	assert_read();
}

Test(dependencies_stamps, an_empty_file_is_always_read)
{
	build_one("");
	const uint8_t *digest = memmem(built.bytes, built.size, "a.h", 3);
	cr_assert_not_null(digest);
	built.bytes[built.size - 1] ^= 1; /* the last byte of the digest, which is compared only after reading */
	assert_not("header changed");
}

Test(dependencies_stamps, what_is_known_of_a_file_is_its_content)
{
	build_one("int a;");
	built.bytes[built.size - 1] ^= 1; /* of the digest */
	assert_not("header changed");
}

Test(dependencies_stamps, dependencies_of_two_nodes_are_equal)
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
	cr_expect_eq(memcmp(first.bytes, built.bytes, built.size), 0);
	stream_free(&first);
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

enum step { BEGINS, CHECKS, CHECKS_AGAIN, STEPS };

/* `context`: whether it is nobody. */
static void take_step(void *context, unsigned step)
{
	if (step == BEGINS && (!context || become_nobody())) {
		build();
	} else if (step == BEGINS || !holds()) {
		_exit(1);
	}
}

Test(dependencies_stamps, a_header_is_not_opened_again_by_a_thread_that_cannot_add_rules)
{
	struct syscalls root[STEPS], nobody[STEPS];
	unsigned again;

	put_seen(in_tree("a.h"), "int a;");
	cr_assert_eq(chmod(tree, 0755), 0);
	skip_unless(geteuid() == 0 && has_no_label(), "needs root, and a system that gives no labels");
	skip_unless(syscalls_count(take_step, NULL, STEPS, root), "nothing can be traced here");
	cr_assert(syscalls_count(take_step, tree, STEPS, nobody));
	again = nobody[CHECKS_AGAIN].all;
	cr_expect_leq(again + 2, nobody[CHECKS].all, "open and close at first");
	cr_expect_leq(again + 2, root[CHECKS_AGAIN].all, "open and close by a thread that can add rules");
}

Test(dependencies_stamps, a_header_forbidden_by_landlock_after_a_hit_does_not_hold)
{
	build_one("int a;");
	cr_assert_eq(chmod(tree, 0755), 0);
	expect_in_child(become_nobody() && holds() && holds() && landlock_by_anybody(), !holds());
}

Test(dependencies_stamps, a_hard_link_forbidden_by_landlock_does_not_hold)
{
	cr_assert_eq(chmod(tree, 0755), 0);
	put_directory(in_tree("ok"));
	put_directory(in_tree("shut"));
	put_file(in_tree("ok/a.h"), "int a;");
	cr_assert(shell("ln %s/ok/a.h %s/shut/a.h", tree, tree));
	see_header(in_tree("ok/a.h"));
	see_header(in_tree("shut/a.h"));
	build();
	assert_believed();
	expect_in_child(restrict_reading_but(in_tree("ok")) && become_nobody(), !holds() && !holds());
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

Test(dependencies_stamps, of_two_headers_of_a_directory_another_user_must_be_able_to_read_both)
{
	cr_assert_eq(chmod(tree, 0755), 0);
	put_file(in_tree("a.h"), "int a;");
	put_file(in_tree("b.h"), "int b;");
	cr_assert_eq(chmod(in_tree("b.h"), 0600), 0);
	see_header(in_tree("a.h"));
	see_header(in_tree("b.h"));
	build();
	assert_believed();
	expect_in_child(become_nobody(), !holds());
}

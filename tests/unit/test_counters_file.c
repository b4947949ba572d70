/* SPDX-License-Identifier: MIT */
#include "tests/unit/counters_fixture.h"

TestSuite(counters_file, .init = set_up, .fini = own_directory_remove);

Test(counters_file, directories_and_file_are_private_whatever_the_umask)
{
	static const mode_t masks[] = {0, 022, 077, 0777};
	char path[4400];
	struct stat found;

	for (size_t i = 0; i < COUNT(masks); i++) {
		mode_t before;

		snprintf(root, sizeof(root), "%s/mask%zu", own_directory, i);
		snprintf(file, sizeof(file), "%s/v1/stats/%02x", root, (unsigned)getpid() & 15);
		before = umask(masks[i]);
		counters_fork_child(); /* like another process, which creates a missing file */
		count(MISSES, 1, COUNTERS_NOW);
		umask(before);
		cr_assert_eq(stat(root, &found), 0);
		cr_expect_eq(found.st_mode & 07777, 0700, "root, umask %o", masks[i]);
		snprintf(path, sizeof(path), "%s/v1/stats", root);
		cr_assert_eq(stat(path, &found), 0);
		cr_expect_eq(found.st_mode & 07777, 0700, "stats, umask %o", masks[i]);
		cr_assert_eq(stat(file, &found), 0);
		cr_expect_eq(found.st_mode & 07777, 0600, "file, umask %o", masks[i]);
	}
}

Test(counters_file, a_root_writable_by_others_is_rejected)
{
	char open_root[4300];

	snprintf(open_root, sizeof(open_root), "%s/open", own_directory);
	cr_assert_eq(mkdir(open_root, 0700), 0);
	cr_assert_eq(chmod(open_root, 0770), 0);
	counters_add(MISSES, 1);
	cr_expect_eq(counters_flush(open_root, COUNTERS_WRITABLE, COUNTERS_NOW), -EPERM);
	cr_assert_eq(chmod(open_root, 0702), 0);
	cr_expect_eq(counters_flush(open_root, COUNTERS_WRITABLE, COUNTERS_NOW), -EPERM);
	cr_expect_eq(rmdir(open_root), 0, "something was written");
}

Test(counters_file, a_file_writable_by_others_is_ignored_and_replaced_by_another)
{
	off_t before;

	count(MISSES, 1, COUNTERS_NOW);
	cr_assert_eq(chmod(file, 0602), 0);
	cr_assert_eq(truncate(file, 7), 0);
	before = file_size();
	count(MISSES, 1, COUNTERS_NOW);
	cr_expect_eq(file_size(), before);
	cr_expect_eq(total(MISSES), 1);
}

Test(counters_file, a_group_writable_root_is_used_if_shared_is_set)
{
	struct stat found;

	counters_share();
	count(MISSES, 2, COUNTERS_NOW);
	cr_expect_eq(total(MISSES), 2);
	cr_assert_eq(stat(root, &found), 0);
	cr_expect_eq(found.st_mode & 07777, 02770);
	cr_assert_eq(stat(file, &found), 0);
	cr_expect_eq(found.st_mode & 07777, 0660);
}

Test(counters_file, a_foreign_file_in_its_place_is_neither_written_nor_removed)
{
	count(MISSES, 1, COUNTERS_NOW);
	cr_assert(file_write(file, "My thesis, chapter one.\n", 24));
	count(MISSES, 1, COUNTERS_NOW);
	cr_expect_eq(total(MISSES), 1);
	cr_expect_eq(file_size(), 24);
	cr_expect_eq(counters_zero(root), 0);
	cr_expect_eq(file_size(), 24);
	cr_expect_eq(total(MISSES), 0);
}

Test(counters_file, a_read_only_cache_is_not_written)
{
	counters_add(MISSES, 1);
	cr_expect_eq(counters_flush(root, COUNTERS_READ_ONLY, COUNTERS_NOW), 0);
	cr_expect_not(exists(root));
	cr_expect_eq(counters_here(MISSES), 1);
}

static bool count_as_nobody(void)
{
	counters_fork_child();
	counters_add(MISSES, 5);
	return setresgid(65534, 65534, 65534) == 0 && setresuid(65534, 65534, 65534) == 0;
}

static void give_back(const char *name)
{
	char path[sizeof(root) + sizeof(file)];

	snprintf(path, sizeof(path), "%s%s", root, name);
	cr_assert_eq(chown(path, 0, 0), 0);
}

Test(counters_file, without_write_permission_a_flush_fails_and_no_count_is_lost)
{
	cr_assert_eq(chmod(own_directory, 0755), 0);
	snprintf(root, sizeof(root), "%s/ro", own_directory);
	cr_assert_eq(mkdir(root, 0700), 0);
	skip_unless(geteuid() == 0 && chown(root, 65534, 65534) == 0,
	            "root is needed, to become somebody for whom permissions count");
	cr_assert_eq(chmod(root, 0500), 0);
	expect_in_child(count_as_nobody(), counters_flush(root, COUNTERS_WRITABLE, COUNTERS_NOW) == -EACCES &&
	                                       chmod(root, 0700) == 0 &&
	                                       counters_flush(root, COUNTERS_WRITABLE, COUNTERS_NOW) == 0);
	snprintf(file, sizeof(file), "/v1/stats/%02x", (unsigned)*latest_child() & 15);
	give_back("");
	give_back("/v1");
	give_back("/v1/stats");
	give_back(file);
	cr_expect_eq(total(MISSES), 5);
}

Test(counters_file, a_flipped_bit_anywhere_resets_the_file)
{
	off_t size;

	count(MISSES, 1, COUNTERS_NOW);
	size = file_size();
	for (off_t at = 0; at < size; at++) {
		for (unsigned bit = 0; bit < 8; bit++) {
			damage(at, (unsigned char)(1u << bit));
			cr_assert_eq(total(MISSES), 0, "bit %u of byte %ld went unseen", bit, (long)at);
			damage(at, (unsigned char)(1u << bit));
		}
	}
	cr_expect_eq(total(MISSES), 1);
	damage(size - 1, 1);
	count(MISSES, 4, COUNTERS_NOW);
	cr_expect_eq(total(MISSES), 4);
}

Test(counters_file, sums_do_not_wrap)
{
	count(MISSES, UINT64_MAX - 1, COUNTERS_NOW);
	counters_fork_child();
	count(MISSES, 5, COUNTERS_NOW);
	cr_expect_eq(total(MISSES), UINT64_MAX);
}

Test(counters_file, a_lock_held_for_long_loses_no_count)
{
	struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	int fds[16];

	count(MISSES, 1, COUNTERS_NOW);
	for (unsigned i = 0; i < 16; i++) {
		snprintf(file, sizeof(file), "%s/v1/stats/%02x", root, i);
		if (i > 0) {
			counters_add(MISSES, 1);
			cr_assert_eq(counters_flush(root, COUNTERS_WRITABLE, COUNTERS_NOW), 0, "file %u", i);
			cr_assert_eq(total(MISSES), i + 1);
		}
		fds[i] = open(file, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
		cr_assert_eq(fcntl(fds[i], F_OFD_SETLK, &whole), 0);
	}
	counters_add(MISSES, 1);
	cr_expect_eq(counters_flush(root, COUNTERS_WRITABLE, COUNTERS_NOW), -EAGAIN, "all are held");
	for (unsigned i = 0; i < 16; i++) {
		close(fds[i]);
	}
	cr_expect_eq(counters_flush(root, COUNTERS_WRITABLE, COUNTERS_NOW), 0);
	cr_expect_eq(total(MISSES), 17);
}

/* Counts in a child whose own file does not exist yet. */
static int count_one_in_a_child(void)
{
	for (unsigned slot = (unsigned)getpid() & 15;;) {
		pid_t child = fork();

		if (child == 0) {
			counters_fork_child();
			counters_add(MISSES, 1);
			_exit(((unsigned)getpid() & 15) == slot
			          ? 77
			          : -counters_flush(root, COUNTERS_WRITABLE, COUNTERS_NOW));
		}
		int code = exit_of(child);

		if (code != 77) {
			return code;
		}
	}
}

Test(counters_file, on_a_full_disk_existing_files_take_the_counts_of_all)
{
	static char block[4096];
	char filler[4300];
	int fd;

	snprintf(root, sizeof(root), "%s/cache", own_directory);
	cr_assert_eq(mkdir(root, 0700), 0);
	skip_unless(mount("tmpfs", root, "tmpfs", MS_NOSUID | MS_NODEV, "size=64k,mode=700") >= 0,
	            "a small file system cannot be mounted here");
	count(MISSES, 1, COUNTERS_NOW);
	snprintf(filler, sizeof(filler), "%s/filler", root);
	fd = open(filler, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	while (write(fd, block, sizeof(block)) > 0)
		;
	close(fd);
	cr_expect_eq(count_one_in_a_child(), 0);
	cr_expect_eq(total(MISSES), 2);
	cr_assert_eq(umount2(root, MNT_DETACH), 0);
}

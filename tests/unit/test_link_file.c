/* SPDX-License-Identifier: MIT */
#include "interpose/nvjitlink/input.h"
#include "tests/unit/support.h"

static char file[220];
static int descriptors;

static void set_up(void)
{
	descriptors = descriptors_open();
	own_directory_make();
	(void)snprintf(file, sizeof(file), "%s/file", own_directory);
}

TestSuite(link_file, .init = set_up, .fini = own_directory_remove);

static void write_file(const void *bytes, size_t size)
{
	cr_assert(file_write(file, bytes, size));
}

/* Reads the file; expects that a failure changes no output and that no descriptor stays open. */
static int try_file(const char *path)
{
	void *bytes = &file;
	size_t size = 42;
	int error = link_file_read(path, &bytes, &size);

	if (error != 0) {
		cr_expect_eq(bytes, &file);
		cr_expect_eq(size, 42);
	} else {
		free(bytes);
	}
	cr_expect_eq(descriptors_open(), descriptors);
	return error;
}

Test(link_file, all_bytes_are_read_and_followed_by_a_nul)
{
	char text[70000], *bytes;
	size_t size;

	memset(text, 'x', sizeof(text));
	text[100] = '\0';
	write_file(text, sizeof(text));
	cr_assert_eq(link_file_read(file, (void **)&bytes, &size), 0);
	cr_expect_eq(size, sizeof(text));
	cr_expect_eq(memcmp(bytes, text, size), 0);
	cr_expect_eq(bytes[size], '\0');
	free(bytes);
	cr_expect_eq(try_file(file), 0);
}

Test(link_file, empty_and_irregular_files_are_left_to_nvjitlink)
{
	cr_expect_eq(try_file(own_directory), -EINVAL);
	cr_expect_eq(try_file(file), -EINVAL);
	cr_expect_eq(try_file(""), -EINVAL);
	cr_expect_eq(try_file("/dev/null"), -EINVAL);
	write_file("", 0);
	cr_expect_eq(try_file(file), -EINVAL);
	write_file("x", 1); /* nvJitLink reports this differently from one added byte */
	cr_expect_eq(try_file(file), -EINVAL);
	write_file("xy", 2);
	cr_expect_eq(try_file(file), 0);
}

Test(link_file, a_pipe_is_not_opened)
{
	int writer;

	cr_assert_eq(mkfifo(file, 0600), 0);
	cr_expect_eq(try_file(file), -EINVAL);
	writer = open(file, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
	cr_expect_eq(writer, -1);
}

Test(link_file, a_symbolic_link_is_followed)
{
	char other[240];

	(void)snprintf(other, sizeof(other), "%s.link", file);
	write_file("text", 4);
	cr_assert_eq(symlink(file, other), 0);
	cr_expect_eq(try_file(other), 0);
	cr_assert_eq(unlink(file), 0);
	cr_expect_eq(try_file(other), -EINVAL);
}

Test(link_file, a_file_without_permission_returns_its_error)
{
	skip_unless(geteuid() != 0, "root may read everything");
	write_file("text", 4);
	cr_assert_eq(chmod(file, 0), 0);
	cr_expect_eq(try_file(file), -EACCES);
}

Test(link_file, a_too_large_file_is_not_read)
{
	write_file("text", 4);
	cr_assert_eq(truncate(file, (off_t)257 << 20), 0);
	cr_expect_eq(try_file(file), -EFBIG);
}

/* The stat size of a file in sysfs is a page, whatever it contains. */
Test(link_file, a_file_shorter_than_its_stat_size_counts_as_changed)
{
	static const char *const shorter = "/sys/kernel/mm/transparent_hugepage/enabled";
	struct stat status;

	skip_unless(stat(shorter, &status) == 0 && status.st_size != 0 && access(shorter, R_OK) == 0, "needs sysfs");
	cr_expect_eq(try_file(shorter), -EAGAIN);
}

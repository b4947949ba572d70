/* SPDX-License-Identifier: MIT */
#include "watch_fixture.h"

#include <dirent.h>

WATCHED(watch_reading);

/* Reading. */

Test(watch_reading, a_read_file_is_recorded_with_its_digest)
{
	struct key digest;
	char text[16] = "";
	FILE *stream;

	write_text("a.h", "#define A 1\n");
	digest_key(&(struct span){"#define A 1\n", 12}, 1, &digest);
	cr_assert_eq(stat("a.h", &status), 0);
	begin();
	stream = LIB(patched, fopen)("a.h", "r");
	cr_assert_not_null(stream);
	cr_expect_eq(ftell(stream), 0, "the offset has moved");
	cr_expect_eq(fread(text, 1, sizeof(text), stream), 12);
	fclose(stream);
	live_end(&trace);
	event = must_see("a.h", TRACE_OPEN);
	cr_expect_eq(event->error, 0);
	cr_expect_eq(event->stamp.inode, status.st_ino);
	cr_expect_eq(event->stamp.size, 12);
	cr_expect_arr_eq(event->digest.bytes, digest.bytes, KEY_BYTES);
	cr_expect_eq(trace.tainted, 0);
	cr_expect_eq(trace.calls, 1);
}

Test(watch_reading, the_digest_of_a_file_of_any_size_is_that_of_its_whole_content)
{
	static const size_t sizes[] = {0, 1, 65535, 65536, 65537, 131072, 300001};
	static uint8_t bytes[300001];

	for (size_t i = 0; i < sizeof(bytes); i++) {
		bytes[i] = (uint8_t)(i * 7 + i / 251);
	}
	for (size_t i = 0; i < COUNT(sizes); i++) {
		struct key digest;
		int file;

		write_file("big", bytes, sizes[i]);
		digest_key(&(struct span){bytes, sizes[i]}, 1, &digest);
		begin();
		file = LIB(patched, open)("big", O_RDONLY);
		live_end(&trace);
		cr_assert_geq(file, 0);
		cr_expect_eq(lseek(file, 0, SEEK_CUR), 0);
		close(file);
		event = must_see("big", TRACE_OPEN);
		cr_expect_arr_eq(event->digest.bytes, digest.bytes, KEY_BYTES, "%zu bytes", sizes[i]);
	}
}

static uint32_t taints_of_content(const char *bytes, size_t size)
{
	uint32_t tainted;
	FILE *stream;

	write_file("content.h", bytes, size);
	begin();
	stream = LIB(patched, fopen)("content.h", "rb");
	live_end(&trace);
	cr_assert_not_null(stream);
	fclose(stream);
	tainted = trace.tainted;
	return tainted;
}

Test(watch_reading, time_macros_taint_at_every_position)
{
	static char bytes[200000];

	memset(bytes, 'x', sizeof(bytes));
	cr_expect_eq(taints_of_content(bytes, sizeof(bytes)), 0);
	for (size_t at = 65536 - 10; at < 65536 + 3; at++) {
		memcpy(bytes + at, "__DATE__", 8);
		cr_expect_eq(taints_of_content(bytes, sizeof(bytes)), TAINT_TIME_MACRO, "at %zu", at);
		memset(bytes + at, 'x', 8);
	}
	memcpy(bytes + sizeof(bytes) - 8, "__TIME__", 8);
	cr_expect_eq(taints_of_content(bytes, sizeof(bytes)), TAINT_TIME_MACRO);
	cr_expect_eq(taints_of_content("__TIME__", 8), TAINT_TIME_MACRO);
}

Test(watch_reading, a_file_as_new_as_the_compile_taints)
{
	write_text("new.h", "1");
	trace_init(&trace, now_ns());
	live_begin(&trace);
	fclose(LIB(patched, fopen)("new.h", "r"));
	live_end(&trace);
	cr_expect_eq(trace.tainted, TAINT_TOO_NEW);
}

#define SECOND_NS INT64_C(1000000000)

static void set_mtime(const char *path, time_t ahead)
{
	struct timespec time = {.tv_sec = (time_t)(now_ns() / SECOND_NS) + ahead};

	cr_assert_eq(utimensat(AT_FDCWD, path, (struct timespec[]){time, time}, 0), 0);
}

Test(watch_reading, a_file_from_the_future_does_not_taint_unless_it_changes)
{
	write_text("future.h", "1");
	set_mtime("future.h", 3600);
	begin();
	fclose(LIB(patched, fopen)("future.h", "r"));
	cr_expect_eq(trace.tainted, 0);
	write_text("future.h", "2");
	set_mtime("future.h", 3600);
	live_end(&trace);
	cr_expect_eq(trace.tainted, TAINT_TOO_NEW);
}

Test(watch_reading, a_file_that_a_write_may_have_given_its_times_taints)
{
	const int64_t now = stamp_now(), hour = 3600 * SECOND_NS;
	struct file_stamp stamp = {.mtime_ns = now + hour, .ctime_ns = now - hour};

	cr_expect_not(file_stamp_racy(&stamp, now), "mtime from the future");
	stamp.ctime_ns = now + hour;
	cr_expect_not(file_stamp_racy(&stamp, now), "both from the future");
	stamp.ctime_ns = now;
	cr_expect(file_stamp_racy(&stamp, now), "ctime of now");
	stamp.mtime_ns = now - hour;
	cr_expect(file_stamp_racy(&stamp, now), "old mtime");
	cr_expect(file_stamp_racy(&stamp, INT64_MIN), "no clock");
	stamp.ctime_ns = now - hour;
	cr_expect_not(file_stamp_racy(&stamp, now), "both old");
}

Test(watch_reading, a_file_that_changes_after_it_was_read_taints)
{
	write_text("changing.h", "1");
	begin();
	fclose(LIB(patched, fopen)("changing.h", "r"));
	cr_expect_eq(trace.tainted, 0);
	write_text("changing.h", "22");
	live_end(&trace);
	cr_expect_eq(trace.tainted, TAINT_TOO_NEW);
}

Test(watch_reading, a_file_that_changes_between_two_readings_taints)
{
	write_text("changing.h", "1");
	begin();
	fclose(LIB(patched, fopen)("changing.h", "r"));
	fclose(LIB(patched, fopen)("changing.h", "r"));
	cr_expect_eq(trace.tainted, 0);
	cr_expect_eq(trace.count, 1, "it is recorded once");
	write_text("changing.h", "22");
	fclose(LIB(patched, fopen)("changing.h", "r"));
	cr_expect_eq(trace.tainted, TAINT_TOO_NEW);
	live_end(&trace);
}

Test(watch_reading, a_file_that_vanishes_during_the_compile_taints)
{
	write_text("vanishing.h", "1");
	begin();
	fclose(LIB(patched, fopen)("vanishing.h", "r"));
	unlink("vanishing.h");
	live_end(&trace);
	cr_expect_eq(trace.tainted, TAINT_TOO_NEW);
}

Test(watch_reading, absent_paths_are_recorded_as_absent)
{
	write_text("file", "1");
	begin();
	cr_expect_null(LIB(patched, fopen)("no.h", "r"));
	cr_expect_eq(errno, ENOENT);
	cr_expect_eq(LIB(patched, stat)("file/no.h", &status), -1);
	cr_expect_eq(errno, ENOTDIR);
	cr_expect_eq(LIB(patched, access)("no.h", R_OK), -1);
	live_end(&trace);
	event = must_see("no.h", TRACE_OPEN);
	cr_expect_eq(event->error, ENOENT);
	event = must_see("file/no.h", TRACE_PROBE);
	cr_expect_eq(event->error, ENOTDIR);
	cr_expect_not_null(event_of("no.h", TRACE_PROBE));
	cr_expect_eq(trace.tainted, 0);
}

Test(watch_reading, a_probed_path_is_recorded_with_its_stamp)
{
	write_text("a.h", "12345");
	begin();
	cr_expect_eq(LIB(patched, stat)("a.h", &status), 0);
	cr_expect_eq(LIB(patched, access)(".", F_OK), 0);
	live_end(&trace);
	event = must_see("a.h", TRACE_PROBE);
	cr_expect_eq(event->stamp.size, 5);
	event = must_see(".", TRACE_PROBE);
	cr_expect(S_ISDIR(event->stamp.mode));
	cr_expect_eq(trace.tainted, 0);
}

Test(watch_reading, calls_that_dependencies_cannot_express_are_recorded_as_listings)
{
	char text[PATH_MAX];
	DIR *directory;

	cr_assert_eq(mkdir("d", 0700), 0);
	cr_assert_eq(symlink("d", "l"), 0);
	write_text("f", "1");
	begin();
	directory = LIB(patched, opendir)("d");
	cr_expect_eq(LIB(patched, lstat)("l", &status), 0);
	cr_expect_gt(LIB(patched, readlink)("l", text, sizeof(text)), 0);
	cr_expect_not_null(LIB(patched, realpath)("f", text));
	cr_expect_eq(LIB(patched, access)("l", X_OK), 0);
	close(LIB(patched, open)("d/..", O_RDONLY | O_DIRECTORY));
	live_end(&trace);
	closedir(directory);
	cr_expect_not_null(event_of("d", TRACE_LISTING));
	cr_expect_not_null(event_of("l", TRACE_LISTING));
	cr_expect_not_null(event_of("f", TRACE_LISTING));
	cr_expect_not_null(event_of("d/..", TRACE_LISTING));
	cr_expect_eq(trace.count, 4);
}

Test(watch_reading, a_path_relative_to_a_descriptor_is_recorded_as_a_listing)
{
	int directory = open(".", O_RDONLY | O_DIRECTORY);

	write_text("f", "1");
	begin();
	close(LIB(patched, openat)(directory, "f", O_RDONLY));
	cr_expect_not_null(event_of("f", TRACE_LISTING));
	close(LIB(patched, openat)(AT_FDCWD, "f", O_RDONLY));
	cr_expect_not_null(event_of("f", TRACE_OPEN));
	live_end(&trace);
	close(directory);
}

Test(watch_reading, irregular_files_taint)
{
	int file;

	cr_assert_eq(mkfifo("pipe", 0600), 0);
	cr_assert_eq(mkdir("d", 0700), 0);
	begin();
	file = LIB(patched, open)("pipe", O_RDONLY | O_NONBLOCK);
	cr_expect_geq(file, 0);
	close(file);
	cr_expect_eq(trace.tainted, TAINT_UNREADABLE);
	atomic_store(&trace.tainted, 0);
	fclose(LIB(patched, fopen)("d", "r"));
	cr_expect_eq(trace.tainted, TAINT_UNREADABLE);
	live_end(&trace);
}

Test(watch_reading, a_file_whose_size_differs_from_its_content_taints)
{
	begin();
	fclose(LIB(patched, fopen)("/proc/self/status", "r"));
	live_end(&trace);
	cr_expect_neq(trace.tainted, 0);
}

Test(watch_reading, failures_other_than_absence_taint)
{
	cr_assert_eq(symlink("loop", "loop"), 0);
	begin();
	cr_expect_eq(LIB(patched, stat)("loop", &status), -1);
	cr_expect_eq(errno, ELOOP);
	cr_expect_null(LIB(patched, fopen)("loop", "r"));
	cr_expect_eq(errno, ELOOP);
	live_end(&trace);
	event = must_see("loop", TRACE_OPEN);
	cr_expect_eq(event->error, ELOOP);
	cr_expect_eq(trace.tainted, TAINT_UNREADABLE);
}

/* SPDX-License-Identifier: MIT */
#include "tests/unit/dependencies_fixture.h"

TestSuite(dependencies, .init = tree_begin, .fini = tree_end);

Test(dependencies, a_program_that_opened_no_file_has_no_dependencies)
{
	see_stat(in_tree("default_program"));
	build();
	cr_assert_eq(built.size, 0);
	put_file(in_tree("default_program"), "");
	assert_holds();
}

Test(dependencies, probes_are_dependencies_with_headers_in_memory)
{
	see_stat(in_tree("mem.h"));
	input.has_memory_headers = true;
	assert_built_holds();
	put_file(in_tree("mem.h"), "");
	assert_not("file appeared: ");
}

Test(dependencies, probes_are_dependencies_after_a_failed_open)
{
	see_stat(in_tree("a/x.h"));
	see_open(in_tree("b/x.h"));
	assert_built_holds();
	put_directory(in_tree("a"));
	assert_holds();
	put_file(in_tree("a/x.h"), "");
	assert_not("file appeared: ");
}

Test(dependencies, an_edit_that_keeps_size_and_mtime_does_not_hold)
{
	const char *path = in_tree("a.h");
	struct stat before;

	put_file(path, "int a;");
	see_header(path);
	build();
	cr_assert_eq(stat(path, &before), 0);
	usleep(20000); /* older than the granularity of the file system's clock, so that the file is settled */
	put_file(path, "int b;");
	cr_assert_eq(utimensat(AT_FDCWD, path, (struct timespec[]){before.st_atim, before.st_mtim}, 0), 0);
	assert_not("header changed: ");
}

Test(dependencies, a_large_content_is_compared_to_its_last_byte)
{
	static char bytes[300001];

	memset(bytes, 'x', sizeof(bytes));
	put_bytes(in_tree("a.h"), bytes, sizeof(bytes));
	see_header(in_tree("a.h"));
	build();
	put_bytes(in_tree("new"), bytes, sizeof(bytes));
	cr_assert_eq(rename(in_tree("new"), in_tree("a.h")), 0);
	assert_holds();
	bytes[sizeof(bytes) - 1] = 'y';
	put_bytes(in_tree("new"), bytes, sizeof(bytes));
	cr_assert_eq(rename(in_tree("new"), in_tree("a.h")), 0);
	assert_not("header changed: ");
}

Test(dependencies, equal_settled_stamps_replace_reading)
{
	put_seen(in_tree("a.h"), "int a;");
	spoil_digests();
	assert_built_holds();
	cr_assert_eq(utimensat(AT_FDCWD, in_tree("a.h"), (struct timespec[]){{1, 0}, {1, 0}}, 0), 0);
	assert_not("header changed: ");
}

Test(dependencies, a_file_as_new_as_the_compile_is_always_compared_by_content)
{
	put_file(in_tree("a.h"), "int a;");
	trace.start_ns = now_ns();
	see_header(in_tree("a.h"));
	spoil_digests();
	build();
	assert_not("header changed: ");
}

Test(dependencies, a_file_with_a_time_of_whole_seconds_settles_after_two)
{
	const time_t time = now_ns() / SECOND_NS + 10;

	put_file(in_tree("a.h"), "int a;");
	cr_assert_eq(utimensat(AT_FDCWD, in_tree("a.h"), (struct timespec[]){{time, 0}, {time, 0}}, 0), 0);
	see_header(in_tree("a.h"));
	spoil_digests();
	trace.start_ns = (time + 1) * SECOND_NS;
	build();
	assert_not("header changed: ");
	trace.start_ns = (time + 3) * SECOND_NS;
	assert_built_holds();
}

Test(dependencies, a_dangling_link_is_absent_until_its_target_exists)
{
	cr_assert_eq(symlink("target.h", in_tree("a.h")), 0);
	see_header(in_tree("a.h"));
	assert_built_holds();
	put_file(in_tree("target.h"), "");
	assert_not("file appeared: ");
}

Test(dependencies, one_stat_of_a_missing_directory_covers_all_names_in_it)
{
	for (int i = 0; i < 9; i++) {
		see_header(in_tree("none/x%d.h", i));
		see_header(in_tree("none/deeper/x%d.h", i));
	}
	assert_built_holds();
	put_directory(in_tree("none"));
	assert_holds();
	put_directory(in_tree("none/deeper"));
	put_file(in_tree("none/deeper/x8.h"), "");
	assert_not("file appeared: ");
}

Test(dependencies, headers_of_a_removed_directory_are_reported_as_gone)
{
	put_directory(in_tree("d"));
	for (int i = 0; i < 9; i++) {
		put_seen(in_tree("d/%d.h", i), "x");
	}
	assert_built_holds();
	cr_assert_eq(rename(in_tree("d"), in_tree("e")), 0);
	assert_not("file is gone: ");
}

Test(dependencies, a_header_replaced_by_a_fifo_does_not_hold_and_does_not_block)
{
	build_one("");
	cr_assert_eq(unlink(in_tree("a.h")), 0);
	cr_assert_eq(mkfifo(in_tree("a.h"), 0644), 0);
	assert_not("no longer the same kind of file: ");
}

Test(dependencies, two_files_that_become_one_do_not_hold)
{
	put_file(in_tree("a.h"), "int a;");
	put_file(in_tree("b.h"), "int a;");
	see_header(in_tree("a.h"));
	see_header(in_tree("b.h"));
	assert_built_holds();
	cr_assert_eq(unlink(in_tree("b.h")), 0);
	cr_assert_eq(link(in_tree("a.h"), in_tree("b.h")), 0);
	assert_not("are one file");
}

Test(dependencies, one_file_that_becomes_two_does_not_hold)
{
	put_file(in_tree("a.h"), "int a;");
	cr_assert_eq(link(in_tree("a.h"), in_tree("b.h")), 0);
	see_header(in_tree("a.h"));
	see_header(in_tree("b.h"));
	assert_built_holds();
	cr_assert_eq(unlink(in_tree("b.h")), 0);
	put_file(in_tree("b.h"), "int a;");
	assert_not("no longer the same file");
}

Test(dependencies, the_identity_of_probed_files_is_compared)
{
	put_file(in_tree("mem.h"), "x");
	put_file(in_tree("a.h"), "int a;");
	see_stat(in_tree("mem.h"));
	see_header(in_tree("a.h"));
	build();
	put_file(in_tree("mem.h"), "other content");
	assert_holds();
	cr_assert_eq(unlink(in_tree("mem.h")), 0);
	cr_assert_eq(symlink("a.h", in_tree("mem.h")), 0);
	assert_not("are one file");
}

Test(dependencies, equal_files_may_be_swapped_if_they_stay_distinct)
{
	put_file(in_tree("a.h"), "same");
	put_file(in_tree("b.h"), "same");
	see_header(in_tree("a.h"));
	see_header(in_tree("b.h"));
	build();
	cr_assert_eq(rename(in_tree("a.h"), in_tree("c")), 0);
	cr_assert_eq(rename(in_tree("b.h"), in_tree("a.h")), 0);
	cr_assert_eq(rename(in_tree("c"), in_tree("b.h")), 0);
	assert_holds();
}

Test(dependencies, a_probed_directory_must_stay_a_directory_but_may_change)
{
	put_directory(in_tree("d"));
	see_stat(in_tree("d"));
	see_open(in_tree("none.h"));
	input.exact = true;
	build();
	put_file(in_tree("d/new"), "");
	assert_holds();
	cr_assert_eq(unlink(in_tree("d/new")), 0);
	cr_assert_eq(rmdir(in_tree("d")), 0);
	put_file(in_tree("d"), "");
	assert_not("no longer the same kind of file: ");
}

Test(dependencies, exact_compares_the_time_of_headers_and_probed_files)
{
	put_file(in_tree("a.h"), "int a;");
	put_file(in_tree("probed"), "x");
	see_stat(in_tree("probed"));
	see_header(in_tree("a.h"));
	input.exact = true;
	assert_built_holds();
	put_file(in_tree("probed"), "other");
	assert_not("size or time changed: ");
	input.exact = false;
	assert_built_holds();
	cr_assert_eq(unlink(in_tree("probed")), 0);
	begin_trace();
	see_header(in_tree("a.h"));
	input.exact = true;
	assert_built_holds();
	cr_assert_eq(utimensat(AT_FDCWD, in_tree("a.h"), (struct timespec[]){{1, 0}, {1, 0}}, 0), 0);
	assert_not("size or time changed: ");
}

/* SPDX-License-Identifier: MIT */
/* Dependencies: roots and the working directory. */
#include "tests/unit/dependencies_fixture.h"

TestSuite(dependencies_paths, .init = tree_begin, .fini = tree_end);

Test(dependencies_paths, a_header_that_appears_under_the_other_root_does_not_hold)
{
	build_twin();
	set_root(0, in_tree("p2"));
	put_file(in_tree("p2/none.h"), "");
	assert_not("p2/none.h");
}

Test(dependencies_paths, paths_are_looked_up_under_the_present_root_only)
{
	build_twin();
	remove_tree(in_tree("p1"));
	assert_not("p1");
	set_root(0, in_tree("p2"));
	assert_holds();
}

Test(dependencies_paths, a_literal_root_must_have_the_same_text)
{
	put_twins();
	add_root(in_tree("elsewhere"), false);
	add_root(in_tree("p1"), true);
	see_twin();
	assert_built_holds();
	set_root(0, in_tree("nowhere"));
	assert_holds();
	set_root(1, in_tree("p2"));
	assert_not(in_tree("p1, and now it is %s", in_tree("p2")));
	set_root(1, in_tree("p1/"));
	assert_not(in_tree("p1, and now it is %s", in_tree("p1/")));
}

Test(dependencies_paths, a_literal_root_is_compared_even_without_opened_files)
{
	add_root("/somewhere", true);
	see_stat("default_program");
	build();
	cr_assert_gt(built.size, 0);
	assert_holds();
	set_root(0, "/elsewhere");
	assert_not("bound to /somewhere, and now it is /elsewhere");
}

Test(dependencies_paths, the_root_directory_is_always_a_literal_root)
{
	add_root("", false);
	assert_built_holds();
	set_root(0, "/tmp");
	assert_not("bound to /, and now it is /tmp");
}

Test(dependencies_paths, files_below_the_root_directory_are_found)
{
	put_file(in_tree("a.h"), "x");
	add_root("", true);
	see_header(in_tree("a.h"));
	for (int i = 0; i < 5; i++) {
		see_header(in_tree("none%d", i));
	}
	see_stat("/");
	assert_built_holds();
	put_file(in_tree("a.h"), "changed");
	assert_not("header changed: /");
}

Test(dependencies_paths, more_or_fewer_roots_do_not_hold)
{
	build_twin();
	add_root("/more", false);
	assert_not("number of roots");
	tree_roots.count = 0;
	assert_not("number of roots");
	tree_roots.count = 2;
}

Test(dependencies_paths, a_root_does_not_match_a_longer_name)
{
	put_twins();
	put_directory(in_tree("p11"));
	put_file(in_tree("p11/a.h"), "literal");
	add_root(in_tree("p1"), false);
	see_header(in_tree("p11/a.h"));
	build();
	set_root(0, in_tree("p2"));
	assert_holds();
	put_file(in_tree("p11/a.h"), "changed");
	assert_not("p11/a.h");
}

Test(dependencies_paths, a_path_in_two_roots_is_rejected)
{
	struct stream stream;

	add_root(in_tree("p1"), false);
	add_root(in_tree("p1/sub"), false);
	see_open(in_tree("p1/sub/x.h"));
	cr_assert_eq(dependencies_build(&input, &stream), -EINVAL);
}

Test(dependencies_paths, dot_dot_paths_from_a_root_stay_relative_to_it)
{
	put_twins();
	add_root(in_tree("p1/sub"), false);
	see_header(in_tree("p1/sub/../a.h"));
	see_header(in_tree("p1/sub/..//./none.h"));
	see_stat(in_tree("p1/sub/.."));
	see_stat(in_tree("p1/sub/"));
	assert_built_holds();
	set_root(0, in_tree("p2/sub"));
	assert_holds();
	put_file(in_tree("p2/a.h"), "changed");
	assert_not("p2/sub/../a.h");
}

Test(dependencies_paths, doubled_slashes_after_a_root_are_preserved)
{
	put_twins();
	add_root(in_tree("p1"), false);
	see_header(in_tree("p1//a.h"));
	see_header(in_tree("p1//sub//b.h"));
	for (int i = 0; i < 4; i++) {
		see_header(in_tree("p1//none%d.h", i));
	}
	build();
	set_root(0, in_tree("p2"));
	assert_holds();
	put_file(in_tree("p2/none3.h"), "");
	assert_not("p2//none3.h");
}

Test(dependencies_paths, a_root_that_makes_a_path_too_long_does_not_hold)
{
	char text[PATH_MAX + 10];

	build_twin();
	memset(text, 'x', sizeof(text) - 1);
	text[0] = '/';
	text[sizeof(text) - 1] = '\0';
	set_root(0, text);
	assert_not("too long");
}

Test(dependencies_paths, a_probe_of_the_absolute_working_directory_follows_the_present_one)
{
	char cwd[PATH_MAX];

	put_twins();
	cr_assert_eq(chdir(in_tree("p1")), 0);
	see_header("a.h");
	see_stat(in_tree("p1"));
	see_stat(".");
	build();
	cr_assert_eq(chdir(in_tree("p2")), 0);
	assert_not("no longer the same file"); /* without input.cwd it is a literal path */
	input.cwd = strcpy(cwd, in_tree("p1"));
	assert_built_holds();
	remove_tree(in_tree("p1"));
	assert_holds();
}

Test(dependencies_paths, whether_a_root_is_the_working_directory_is_compared)
{
	char cwd[PATH_MAX];

	put_twins();
	cr_assert_eq(chdir(in_tree("p1")), 0);
	add_root(in_tree("p1"), false);
	input.cwd = strcpy(cwd, in_tree("p1"));
	see_header(in_tree("p1/a.h"));
	see_stat(in_tree("p1"));
	assert_built_holds();
	set_root(0, in_tree("p2"));
	assert_not("no longer the same file");
	cr_assert_eq(chdir(in_tree("p2")), 0);
	assert_holds();
}

/* NVRTC 13.5 looks for an absolute path of an option below the working directory too. */
Test(dependencies_paths, an_absolute_path_behind_the_working_directory_is_relative_to_it)
{
	char cwd[PATH_MAX];
	char path[2 * PATH_MAX];

	put_twins();
	cr_assert_eq(chdir(in_tree("p1")), 0);
	input.cwd = strcpy(cwd, in_tree("p1"));
	input.cwd_spelled = true;
	snprintf(path, sizeof(path), "%s//sub//none.h", cwd);
	see_header("a.h");
	see_stat(path);
	snprintf(path, sizeof(path), "%s//", cwd);
	see_stat(path);
	assert_built_holds();
	cr_assert_eq(chdir(in_tree("p2")), 0);
	put_file(in_tree("p1/sub/none.h"), "");
	assert_holds();
	put_file("sub/none.h", "");
	assert_not("file appeared: sub//none.h");
}

Test(dependencies_paths, the_directory_of_PWD_is_no_dependency)
{
	put_twins();
	see_header(in_tree("p2/a.h"));
	see_stat(in_tree("p1"));
	input.pwd = in_tree("p1");
	build();
	remove_tree(in_tree("p1"));
	assert_holds();
	input.pwd = NULL;
	build();
	assert_not("file is gone: ");
}

Test(dependencies_paths, files_of_a_deleted_working_directory_do_not_hold)
{
	put_directory(in_tree("gone"));
	cr_assert_eq(chdir(in_tree("gone")), 0);
	see_header("a.h");
	see_header("sub/a.h");
	assert_built_holds();
	cr_assert_eq(rmdir(in_tree("gone")), 0);
	assert_holds();
	begin_trace();
	see_header("a.h");
	see_stat(".");
	assert_built_holds();
	cr_assert_eq(chdir(tree), 0);
	assert_holds();
	put_file("a.h", "");
	assert_not("file appeared: a.h");
	cr_assert_eq(unlink("a.h"), 0);
	begin_trace();
	put_file("a.h", "");
	see_header("a.h");
	build();
	put_directory(in_tree("gone"));
	cr_assert_eq(chdir(in_tree("gone")), 0);
	cr_assert_eq(rmdir(in_tree("gone")), 0);
	assert_not("file is gone: a.h");
}

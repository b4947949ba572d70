/* SPDX-License-Identifier: MIT */
/* Dependencies listed for people: each path with its present state; paths with an unknown root are not checked. */
#include "tests/unit/dependencies_fixture.h"

#define MOST 16

static struct seen_dependency {
	struct dependency is;
	char path[PATH_MAX];
} seen[MOST];
static size_t seen_count;

static int note(const struct dependency *dependency, void *context)
{
	struct seen_dependency *one = &seen[seen_count++];

	cr_assert_null(context);
	cr_assert_leq(seen_count, (size_t)MOST);
	one->is = *dependency;
	(void)snprintf(one->path, sizeof(one->path), "%s", dependency->path ? dependency->path : "");
	return 0;
}

static const struct roots no_roots;

static int tell(const struct roots *roots, bool is_here)
{
	seen_count = 0;
	return dependencies_tell(built.bytes, built.size, roots, is_here, note, NULL);
}

/* Returns the reported dependency whose path ends with `path`. */
static const struct dependency *told_of(const char *path)
{
	for (size_t i = 0; i < seen_count; i++) {
		size_t size = strlen(seen[i].path);

		if (size >= strlen(path) && strcmp(seen[i].path + size - strlen(path), path) == 0) {
			return &seen[i].is;
		}
	}
	cr_assert_fail("nothing is told of %s", path);
	return NULL;
}

#define assert_state(path, expected) cr_assert_str_eq(dependency_state_text(told_of(path)->state), (expected))

/* Builds dependencies on a file that was read, one that was probed and one that was absent; p1 is a free root. */
static void build_three(void)
{
	put_twins();
	add_root(in_tree("p1"), false);
	see_header(in_tree("p1/a.h"));
	see_stat(in_tree("p1/sub/b.h"));
	see_stat(in_tree("p1/none.h"));
	build();
}

TestSuite(dependencies_tell, .init = tree_begin, .fini = tree_end);

Test(dependencies_tell, unchanged_paths_are_reported_with_kind_and_size)
{
	build_three();
	cr_assert_eq(tell(&tree_roots, true), 0);
	cr_expect_eq(seen_count, 3);
	assert_state("p1/a.h", "unchanged");
	assert_state("p1/sub/b.h", "unchanged");
	assert_state("p1/none.h", "unchanged");
	cr_expect_eq(told_of("p1/a.h")->kind, DEPENDENCY_CONTENT);
	cr_expect_eq(told_of("p1/a.h")->size, strlen("int a;"));
	cr_expect_eq(told_of("p1/sub/b.h")->kind, DEPENDENCY_PLACE);
	cr_expect_eq(told_of("p1/none.h")->kind, DEPENDENCY_ABSENT);
}

Test(dependencies_tell, every_path_is_reported_after_one_has_changed)
{
	build_three();
	put_file(in_tree("p1/a.h"), "int b;");
	cr_assert_eq(unlink(in_tree("p1/sub/b.h")), 0);
	put_file(in_tree("p1/none.h"), "");
	cr_assert_eq(tell(&tree_roots, true), 0);
	assert_state("p1/a.h", "changed");
	assert_state("p1/sub/b.h", "gone");
	assert_state("p1/none.h", "appeared");
	put_file(in_tree("p1/a.h"), "int a; // longer");
	cr_assert_eq(unlink(in_tree("p1/none.h")), 0);
	put_directory(in_tree("p1/sub/b.h"));
	cr_assert_eq(tell(&tree_roots, true), 0);
	assert_state("p1/a.h", "changed");
	assert_state("p1/none.h", "unchanged");
	assert_state("p1/sub/b.h", "another kind");
}

Test(dependencies_tell, paths_under_an_unknown_root_are_not_checked)
{
	build_three();
	remove_tree(in_tree("p1"));
	cr_assert_eq(tell(&no_roots, true), 0);
	assert_state("/a.h", "not checked");
	assert_state("/none.h", "not checked");
	cr_expect_eq(told_of("/a.h")->root, 0);
	cr_expect_str_eq(seen[1].path, "/none.h");
	cr_assert_eq(tell(NULL, true), 0);
	assert_state("/a.h", "not checked");
	cr_expect_eq(seen_count, 3);
}

Test(dependencies_tell, a_bound_root_is_taken_from_the_dependencies)
{
	put_twins();
	add_root("/free", false);
	add_root(in_tree("p1"), true);
	see_header(in_tree("p1/a.h"));
	build();
	cr_assert_eq(tell(&no_roots, true), 0);
	assert_state("p1/a.h", "unchanged");
	cr_expect_eq(told_of("p1/a.h")->root, DEPENDENCY_NO_ROOT);
}

Test(dependencies_tell, relative_paths_are_checked_only_in_the_right_working_directory)
{
	put_twins();
	cr_assert_eq(chdir(in_tree("p1")), 0);
	see_header("a.h");
	build();
	cr_assert_eq(tell(&no_roots, true), 0);
	assert_state("a.h", "unchanged");
	cr_expect(told_of("a.h")->relative);
	cr_assert_eq(chdir("/"), 0);
	cr_assert_eq(tell(&no_roots, true), 0);
	assert_state("a.h", "gone");
	cr_assert_eq(tell(&no_roots, false), 0);
	assert_state("a.h", "not checked");
}

/* Truncated or flipped bytes give an error, or the same number of dependencies. */
Test(dependencies_tell, damage_is_an_error_or_changes_only_the_text)
{
	build_three();
	cr_assert_eq(tell(&tree_roots, true), 0);
	for (size_t size = 1; size < built.size; size++) {
		seen_count = 0;
		cr_assert_lt(dependencies_tell(built.bytes, size, &tree_roots, true, note, NULL), 0);
	}
	built.bytes[0] ^= 1;
	cr_expect_eq(tell(&tree_roots, true), -EPROTONOSUPPORT);
	built.bytes[0] ^= 1;
	built.bytes[4] ^= 0x80;
	cr_expect_eq(tell(&tree_roots, true), -EBADMSG);
}

/* SPDX-License-Identifier: MIT */
/* Dependencies: names in directories that are missing. */
#include "tests/unit/dependencies_fixture.h"

TestSuite(dependencies_directories, .init = tree_begin, .fini = tree_end);

Test(dependencies_directories, a_file_that_appears_in_a_missing_directory_does_not_hold)
{
	static const char *const names[] = {"m/u/a.h", "m/u/b.h", "m/v/w/a.h", "m/v/w/b.h",
	                                    "m/x.h",   "mm/a.h",  "mm/b.h"};

	put_directory(in_tree("p1"));
	put_file(in_tree("a.h"), "int a;");
	add_root(in_tree("p1"), false);
	for (size_t i = 0; i < COUNT(names); i++) {
		see_header(in_tree("p1/%s", names[i]));
	}
	see_header(in_tree("a.h"));
	assert_built_holds();
	put_directory(in_tree("p1/mm"));
	put_file(in_tree("p1/mm/b.h"), "");
	assert_not("p1/mm/b.h");
	cr_assert_eq(unlink(in_tree("p1/mm/b.h")), 0);
	put_directory(in_tree("p1/m"));
	put_directory(in_tree("p1/m/v"));
	assert_holds();
	put_directory(in_tree("p1/m/v/w"));
	assert_holds();
	put_file(in_tree("p1/m/v/w/b.h"), "");
	assert_not("p1/m/v/w/b.h");
	cr_assert_eq(unlink(in_tree("p1/m/v/w/b.h")), 0);
	put_file(in_tree("p1/m/x.h"), "");
	assert_not("p1/m/x.h");
}

/* NVRTC's log says "Not a directory" then, and nothing of a missing one. */
Test(dependencies_directories, a_file_in_place_of_a_missing_directory_does_not_hold_nor_the_reverse)
{
	static const char *const names[] = {"m/u/a.h", "m/u/b.h", "m/u/c.h", "m/v/w/a.h", "n.h"};

	put_directory(in_tree("p1"));
	add_root(in_tree("p1"), false);
	for (size_t i = 0; i < COUNT(names); i++) {
		see_header(in_tree("p1/%s", names[i]));
	}
	assert_built_holds();
	put_file(in_tree("p1/m"), "");
	assert_not("p1/m");
	cr_assert_eq(unlink(in_tree("p1/m")), 0);
	put_directory(in_tree("p1/m"));
	assert_holds();
	put_file(in_tree("p1/m/u"), "");
	assert_not("p1/m/u");
}

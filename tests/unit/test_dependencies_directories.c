/* SPDX-License-Identifier: MIT */
/* Dependencies: one stat of a directory that replaces the look-up of names that were absent from it. */
#include "keygen/dependencies_read.h"
#include "tests/unit/dependencies_fixture.h"

TestSuite(dependencies_directories, .init = tree_begin, .fini = tree_end);

/* Records three names that are absent from the directory p1. */
static void see_three(void)
{
	put_directory(in_tree("p1"));
	put_file(in_tree("a.h"), "int a;");
	add_root(in_tree("p1"), false);
	see_header(in_tree("p1/x.h"));
	see_header(in_tree("p1/y.h"));
	see_header(in_tree("p1/z.h"));
	see_header(in_tree("a.h"));
	build();
}

/* Returns the group with a directory stamp. */
static struct place_group stamped_group(void)
{
	struct place_group group = {0};
	struct fixed_stamps stamps;
	struct reader reader;
	uint32_t items;
	const char *text;
	size_t size;

	cr_assert_eq(reader_head(&reader, built.bytes, built.size, &stamps), 0);
	for (uint32_t i = 0; i < reader.roots; i++) {
		cr_assert_eq(reader_root(&reader, &text, &size), 0);
	}
	for (uint32_t i = 0; i < reader.groups && !(group.hints & HINT_STAMPED); i++) {
		cr_assert_eq(reader_group(&reader, &group, &items), 0);
		for (uint32_t k = 0; k < items; k++) {
			struct checked_item item;

			cr_assert_eq(reader_item(&reader, &item, &text, &size), 0);
		}
	}
	cr_assert(group.hints & HINT_STAMPED, "no directory was stamped");
	return group;
}

/* Waits until a later check sees a settled directory. */
static void wait_until_settled(const char *path)
{
	struct file_stamp now;
	struct stat found;

	do {
		usleep(5000);
		cr_assert_eq(stat(path, &found), 0);
		file_stamp_from(&found, &now);
	} while (!file_stamp_settled(&now, stamp_now()));
}

static void put_stamp(const struct fixed_directory *stamp)
{
	memcpy(built.bytes + stamped_group().stamp_at, stamp, sizeof(*stamp));
}

/* Replaces the recorded stamp by the present one. If the stamp is accepted, new names are then overlooked. */
static struct fixed_directory forge(const char *path)
{
	struct fixed_directory stamp = {.settled = 1};
	struct file_stamp now;
	struct stat found;

	cr_assert_eq(stat(path, &found), 0);
	file_stamp_from(&found, &now);
	stamp.device = now.device;
	stamp.inode = now.inode;
	stamp.mtime_ns = now.mtime_ns;
	stamp.ctime_ns = now.ctime_ns;
	put_stamp(&stamp);
	return stamp;
}

Test(dependencies_directories, a_file_that_appears_in_a_stamped_directory_does_not_hold)
{
	see_three();
	skip_unless(stamped_group().stamp.settled, "this file system does not vouch for directories");
	assert_holds();
	put_file(in_tree("p1/other.h"), "");
	assert_holds();
	put_file(in_tree("p1/y.h"), "");
	assert_not("p1/y.h");
}

Test(dependencies_directories, an_equal_directory_stamp_replaces_looking_up_its_names)
{
	see_three();
	skip_unless(stamped_group().stamp.settled, "this file system does not vouch for directories");
	put_file(in_tree("p1/y.h"), "");
	(void)forge(in_tree("p1"));
	assert_holds();
}

Test(dependencies_directories, a_directory_stamp_with_any_field_different_is_not_accepted)
{
	struct fixed_directory others[5];

	see_three();
	put_file(in_tree("p1/y.h"), "");
	for (size_t i = 0; i < COUNT(others); i++) {
		others[i] = forge(in_tree("p1"));
	}
	others[0].settled = 0;
	others[1].ctime_ns--;
	others[2].mtime_ns--;
	others[3].inode++;
	others[4].device++;
	for (size_t i = 0; i < COUNT(others); i++) {
		put_stamp(&others[i]);
		cr_assert(!holds() && strstr(why, "p1/y.h"), "field %zu: %s", i, why);
	}
}

Test(dependencies_directories, a_stamp_of_another_boot_or_mount_is_not_accepted)
{
	struct fixed_stamps stamps, other;

	see_three();
	put_file(in_tree("p1/y.h"), "");
	(void)forge(in_tree("p1"));
	memcpy(&stamps, built.bytes + DEPENDENCIES_STAMPS_AT, sizeof(stamps));
	other = stamps;
	other.boot[0]++;
	memcpy(built.bytes + DEPENDENCIES_STAMPS_AT, &other, sizeof(other));
	assert_not("p1/y.h");
	other = stamps;
	other.mounts = 0;
	memcpy(built.bytes + DEPENDENCIES_STAMPS_AT, &other, sizeof(other));
	assert_not("p1/y.h");
}

Test(dependencies_directories, a_directory_as_new_as_the_compile_is_not_stamped)
{
	trace_free(&trace);
	trace_init(&trace, now_ns());
	see_three();
	cr_assert_eq(stamped_group().stamp.settled, 0);
}

Test(dependencies_directories, the_target_of_a_dangling_link_that_appears_does_not_hold)
{
	put_directory(in_tree("p1"));
	cr_assert_eq(symlink(in_tree("later.h"), in_tree("p1/y.h")), 0);
	put_file(in_tree("a.h"), "int a;");
	add_root(in_tree("p1"), false);
	see_header(in_tree("p1/x.h"));
	see_header(in_tree("p1/y.h"));
	see_header(in_tree("a.h"));
	assert_built_holds();
	put_file(in_tree("later.h"), "");
	assert_not("p1/y.h");
}

Test(dependencies_directories, cleared_directory_stamps_are_renewed_with_those_of_files)
{
	see_three();
	skip_unless(stamped_group().stamp.settled, "this file system does not vouch for directories");
	dependencies_forget(built.bytes, built.size);
	cr_assert_eq(stamped_group().stamp.settled, 0);
	wait_until_settled(in_tree("p1"));
	wait_until_settled(in_tree("a.h"));
	cr_assert(holds_anew(), "%s", why);
	take_anew();
	cr_assert_eq(stamped_group().stamp.settled, 1);
	put_file(in_tree("p1/y.h"), "");
	assert_not("p1/y.h");
}

Test(dependencies_directories, a_directory_with_a_dangling_link_gets_no_new_stamp)
{
	see_three();
	cr_assert_eq(symlink(in_tree("later.h"), in_tree("p1/y.h")), 0);
	dependencies_forget(built.bytes, built.size);
	wait_until_settled(in_tree("p1"));
	wait_until_settled(in_tree("a.h"));
	cr_assert(holds_anew(), "%s", why);
	take_anew();
	cr_assert_eq(stamped_group().stamp.settled, 0);
}

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

/* Returns true if a hit gives p1 a new stamp, although `appears` (may be NULL) is created after the check began. p1 is
 * settled when it is stamped. */
static bool stamps_anew(const char *appears)
{
	struct place_group group = stamped_group();
	struct fixed_stamps stamps;
	struct file_stamp now;
	struct content content;
	struct reader reader;
	struct place place;
	struct stat found;
	uint64_t number;
	bool stamped;

	group.base_text = tree_roots.root[group.base].text;
	group.base_size = tree_roots.root[group.base].size;
	wait_until_settled(in_tree("p1"));
	place_init(&place);
	content_begin(&content, built.bytes, built.size, CONTENT_ANEW, &place);
	cr_assert_eq(reader_head(&reader, built.bytes, built.size, &stamps), 0);
	memset(stamps.boot, 0, sizeof(stamps.boot));
	content_taken(&content, &stamps);
	if (appears) {
		put_file(in_tree(appears), "");
		wait_until_settled(in_tree("p1"));
	}
	cr_assert_eq(place_enter(&place, &group), 0);
	cr_assert_eq(place_name(&place, ".", 1), 0);
	cr_assert_eq(stamp_look(AT_FDCWD, in_tree("p1/."), &found, &number), 0);
	file_stamp_from(&found, &now);
	content_stamp_directory(&content, &group, &now, number);
	stamped = content.anew != NULL;
	place_leave(&place);
	place_close(&place);
	content_end(&content);
	return stamped;
}

Test(dependencies_directories, a_directory_changed_after_the_check_began_gets_no_new_stamp)
{
	see_three();
	skip_unless(stamped_group().stamp.settled, "this file system does not vouch for directories");
	cr_expect(stamps_anew(NULL));
	cr_expect_not(stamps_anew("p1/other.h"));
}

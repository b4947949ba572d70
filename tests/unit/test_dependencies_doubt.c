/* SPDX-License-Identifier: MIT */
/* Dependencies: unreadable files, hosts without descriptors, and damaged bytes. */
#include "tests/unit/dependencies_fixture.h"

static int statx_error; /* 0: it works */
static int statx_calls, statx_mounting;

/* Overrides the C library's statx(). Headers before glibc 2.28 do not declare it. */
int statx(int directory, const char *restrict path, int flags, unsigned mask, struct statx *restrict ret_found);

int statx(int directory, const char *restrict path, int flags, unsigned mask, struct statx *restrict ret_found)
{
	statx_calls++;
	statx_mounting += !(flags & AT_NO_AUTOMOUNT);
	if (statx_error) {
		errno = statx_error;
		return -1;
	}
	return (int)syscall(SYS_statx, directory, path, flags, mask, ret_found);
}

TestSuite(dependencies_doubt, .init = tree_begin, .fini = tree_end);

/* Checks in a child of an unprivileged user. Returns 1 if the dependencies hold, 0 if not. */
static int holds_for_nobody(void)
{
	return in_child(geteuid() == 0 && setuid(65533) != 0 ? 2 : holds() ? 1 : 0);
}

Test(dependencies_doubt, an_unreadable_header_does_not_hold)
{
	cr_assert_eq(chmod(tree, 0755), 0);
	build_one("int a;");
	cr_assert_eq(holds_for_nobody(), 1);
	cr_assert_eq(chmod(in_tree("a.h"), 0), 0);
	cr_assert_eq(holds_for_nobody(), 0);
}

/* Reading the file to its end would take half an hour. */
Test(dependencies_doubt, a_file_larger_than_the_read_limit_is_not_read, .timeout = 60)
{
	put_file(in_tree("a.h"), "int a;");
	skip_unless(truncate(in_tree("a.h"), (off_t)1 << 40) == 0, "no file of 1 TiB here");
	see_header(in_tree("a.h"));
	assert_built_holds();
	/* neither the entry nor the process knows the file by this stamp */
	cr_assert_eq(utimensat(AT_FDCWD, in_tree("a.h"), (struct timespec[2]){{.tv_sec = 1}, {.tv_sec = 1}}, 0), 0);
	assert_not("header cannot be read");
}

Test(dependencies_doubt, a_header_with_an_equal_stamp_must_still_be_readable)
{
	if (geteuid() != 0) {
		return; /* only another user can meet it */
	}
	cr_assert_eq(chmod(tree, 0755), 0);
	put_file(in_tree("a.h"), "int a;");
	cr_assert_eq(chmod(in_tree("a.h"), 0600), 0);
	see_header(in_tree("a.h"));
	assert_built_holds();
	cr_assert_eq(holds_for_nobody(), 0);
}

Test(dependencies_doubt, a_directory_without_search_permission_does_not_hold)
{
	cr_assert_eq(chmod(tree, 0755), 0);
	put_directory(in_tree("d"));
	for (int i = 0; i < 6; i++) {
		see_header(in_tree("d/none%d.h", i));
	}
	build();
	cr_assert_eq(holds_for_nobody(), 1);
	cr_assert_eq(chmod(in_tree("d"), 0600), 0);
	cr_assert_eq(holds_for_nobody(), geteuid() == 0 ? 0 : holds());
}

Test(dependencies_doubt, a_host_without_free_descriptors_gets_hits)
{
	struct rlimit limit;
	int left[1024];
	int count = 0;

	put_directory(in_tree("d"));
	add_root(tree, false);
	for (int i = 0; i < 10; i++) {
		put_seen(in_tree("d/%d.h", i), "x");
		see_header(in_tree("none/%d.h", i));
	}
	build();
	cr_assert_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	limit.rlim_cur = 200;
	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	while ((left[count] = dup(0)) >= 0) {
		count++;
	}
	cr_assert_eq(errno, EMFILE);
	bool none = holds();
	close(left[--count]);
	bool one = holds();
	while (count > 0) {
		close(left[--count]);
	}
	cr_assert(none && one, "%s", why);
}

static void see_everything(void)
{
	put_twins();
	put_file(in_tree("racy.h"), "racy");
	add_root(in_tree("p1"), true);
	add_root(in_tree("p2"), false);
	see_twin();
	see_header(in_tree("p2/a.h"));
	see_header(in_tree("racy.h"));
	see_header("relative.h");
	for (int i = 0; i < 5; i++) {
		see_header(in_tree("p2/missing/%d.h", i));
	}
	trace.start_ns = now_ns();
	assert_built_holds();
}

Test(dependencies_doubt, trailing_bytes_do_not_hold)
{
	see_everything();
	stream_bytes(&built, "", 1);
	assert_not("damaged");
}

Test(dependencies_doubt, flipped_bits_do_no_harm)
{
	uint8_t *bytes;

	see_everything();
	bytes = malloc(built.size);
	memcpy(bytes, built.bytes, built.size);
	for (size_t bit = 0; bit < built.size * 8; bit++) {
		bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
		dependencies_hold(bytes, built.size, &tree_roots, NULL, why, sizeof(why));
		bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
	cr_assert(dependencies_hold(bytes, built.size, &tree_roots, NULL, why, sizeof(why)), "%s", why);
	free(bytes);
}

Test(dependencies_doubt, the_reason_fits_into_any_buffer)
{
	char small[4] = "xxx";

	see_open(in_tree("none.h"));
	build();
	put_file(in_tree("none.h"), "");
	cr_assert_not(dependencies_hold(built.bytes, built.size, &tree_roots, NULL, small, sizeof(small)));
	cr_assert_str_eq(small, "fil");
	cr_assert_not(dependencies_hold(built.bytes, built.size, &tree_roots, NULL, small, 0));
	cr_assert_not(dependencies_hold(built.bytes, built.size, &tree_roots, NULL, NULL, 100));
	cr_assert_str_eq(small, "fil");
}

Test(dependencies_doubt, a_check_triggers_no_automount)
{
	build_one("int a;");
	assert_holds();
	cr_expect_gt(statx_calls, 0);
	cr_expect_eq(statx_mounting, 0, "stat() mounts nothing, so the compiler did not");
}

Test(dependencies_doubt, without_statx_fstatat_is_used)
{
	static const int errors[] = {ENOSYS, EPERM, EINVAL};

	put_seen(in_tree("a.h"), "int a;");
	see_open(in_tree("none.h"));
	build();
	for (size_t i = 0; i < COUNT(errors); i++) {
		statx_error = errors[i];
		assert_holds();
	}
	put_file(in_tree("a.h"), "int b;");
	cr_expect_not(holds());
}

static bool disagree(void)
{
	return false;
}

Test(dependencies_doubt, dependencies_with_paths_do_not_hold_if_a_preload_redirects_paths)
{
	build_one("int a;");
	assert_holds();
	dependencies_ask_paths(disagree);
	cr_expect_not(holds());
	dependencies_ask_paths(NULL);
	assert_holds();
}

static bool holds_within(struct dependencies_budget *budget)
{
	return dependencies_hold(built.bytes, built.size, &tree_roots, budget, why, sizeof(why));
}

/* Records a header that was read and two names that were absent. */
static void see_three_paths(void)
{
	put_file(in_tree("a.h"), "int a;");
	see_header(in_tree("a.h"));
	see_header(in_tree("b.h"));
	see_header(in_tree("c/d.h"));
	build();
}

Test(dependencies_doubt, one_look_up_compares_a_limited_number_of_paths_in_all_results)
{
	struct dependencies_budget budget;

	see_three_paths();
	budget = DEPENDENCIES_BUDGET;
	budget.paths = 5;
	cr_expect(holds_within(&budget), "%s", why);
	cr_expect_not(holds_within(&budget));
	cr_expect_str_eq(why, "more files than a look-up compares");
	cr_expect_eq(budget.paths, 0, "the next results are not looked at");
}

Test(dependencies_doubt, one_look_up_takes_a_limited_time)
{
	struct dependencies_budget budget;

	see_three_paths();
	budget = DEPENDENCIES_BUDGET;
	cr_expect(holds_within(&budget), "%s", why);
	cr_expect_gt(budget.until_ns, 0);
	budget.until_ns = 1;
	cr_expect_not(holds_within(&budget));
}

Test(dependencies_doubt, one_look_up_reads_a_limited_number_of_bytes_in_all_results)
{
	struct dependencies_budget budget;

	see_three_paths();
	put_file(in_tree("a.h"), "int a;"); /* has to be read, and is too new for that to be kept */
	budget = DEPENDENCIES_BUDGET;
	budget.bytes = 11;
	cr_expect(holds_within(&budget), "%s", why);
	cr_expect_eq(budget.bytes, 5);
	cr_expect_not(holds_within(&budget));
}

/* SPDX-License-Identifier: MIT */
/* Dependencies: traces that cannot be expressed, and bytes that depend only on the trace. */
#include "tests/unit/dependencies_fixture.h"

TestSuite(dependencies_build, .init = tree_begin, .fini = tree_end);

static void assert_no_part_holds(void)
{
	for (size_t size = 1; size < built.size; size++) {
		cr_assert_not(dependencies_hold(built.bytes, size, &tree_roots, NULL, NULL, 0), "%zu", size);
	}
}

static void assert_refused(void)
{
	struct stream stream = {.size = 77};

	cr_assert_eq(dependencies_build(&input, &stream), -EINVAL);
	cr_assert_eq(stream.size, 77, "the output was touched");
}

Test(dependencies_build, tainted_failed_and_listing_traces_are_rejected)
{
	see_open(in_tree("none.h"));
	trace_taint(&trace, TAINT_TOO_NEW);
	assert_refused();
	begin_trace();
	trace.failed = true;
	assert_refused();
	begin_trace();
	trace_add(&trace, &(struct trace_event){.kind = TRACE_LISTING, .path = tree});
	assert_refused();
}

Test(dependencies_build, what_could_not_be_read_back_is_rejected)
{
	see_open(in_tree("none.h"));
	trace.answer_count = MACHINE_ANSWERS_MAX + 1;
	assert_refused();
}

Test(dependencies_build, a_path_seen_both_present_and_absent_is_rejected)
{
	see_stat(in_tree("a.h"));
	put_file(in_tree("a.h"), "");
	see_open(in_tree("a.h"));
	assert_refused();
}

Test(dependencies_build, two_stamps_or_digests_of_one_path_are_rejected)
{
	put_file(in_tree("a.h"), "one");
	see_open(in_tree("a.h"));
	put_file(in_tree("a.h"), "longer");
	see_open(in_tree("a.h"));
	assert_refused();
	begin_trace();
	see_open(in_tree("a.h"));
	trace.events[0].digest.bytes[3] ^= 1;
	see_open(in_tree("a.h"));
	cr_assert_eq(trace.count, 2);
	assert_refused();
}

/* The trace itself is tainted by these events; this tests the dependencies without the taint. */
Test(dependencies_build, two_stamps_of_one_content_are_rejected)
{
	put_file(in_tree("a.h"), "one");
	for (int field = 0; field < 2; field++) {
		begin_trace();
		see_open(in_tree("a.h"));
		trace.events[0].stamp.mtime_ns -= field == 0;
		trace.events[0].stamp.inode += field == 1;
		see_open(in_tree("a.h"));
		cr_assert_eq(trace.count, 2);
		atomic_store(&trace.tainted, 0);
		assert_refused();
	}
}

Test(dependencies_build, a_changed_probed_file_is_rejected_but_a_changed_directory_is_not)
{
	put_file(in_tree("mem.h"), "one");
	see_open(in_tree("none.h"));
	see_stat(tree);
	see_stat(in_tree("mem.h"));
	put_file(in_tree("new"), "");
	see_stat(tree);
	cr_assert_eq(trace.count, 4);
	assert_built_holds();
	put_file(in_tree("mem.h"), "longer");
	see_stat(in_tree("mem.h"));
	assert_refused();
}

Test(dependencies_build, temporary_errors_are_rejected)
{
	const int errors[] = {EMFILE, ENFILE, EIO, EINTR, ENOMEM, ESTALE, ETIMEDOUT};

	for (size_t i = 0; i < COUNT(errors); i++) {
		begin_trace();
		trace_add(&trace, &(struct trace_event){.kind = TRACE_OPEN, .path = in_tree("x"), .error = errors[i]});
		assert_refused();
	}
}

Test(dependencies_build, an_opened_directory_and_a_path_of_path_max_are_rejected)
{
	static char path[PATH_MAX + 10];

	see_stat(tree);
	trace.events[0].kind = TRACE_OPEN;
	assert_refused();
	begin_trace();
	memset(path, 'x', sizeof(path) - 1);
	trace_add(&trace, &(struct trace_event){.kind = TRACE_OPEN, .path = path, .error = ENAMETOOLONG});
	assert_refused();
}

Test(dependencies_build, the_bytes_do_not_depend_on_the_order_of_events)
{
	struct stream first;

	put_file(in_tree("a.h"), "a");
	put_file(in_tree("b.h"), "b");
	see_header(in_tree("a.h"));
	see_header(in_tree("b.h"));
	see_header(in_tree("c.h"));
	build();
	first = take_built();
	int64_t start = trace.start_ns;
	begin_trace();
	trace.start_ns = start;
	see_open(in_tree("c.h"));
	see_open(in_tree("b.h"));
	see_header(in_tree("a.h"));
	build();
	cr_assert_eq(first.size, built.size);
	cr_assert_eq(memcmp(first.bytes, built.bytes, built.size), 0);
	stream_free(&first);
}

static struct key arithmetic_now;
static bool arithmetic_known;

static const struct key *answer_arithmetic(void *context)
{
	cr_assert_eq(context, &arithmetic_now);
	return arithmetic_known ? &arithmetic_now : NULL;
}

static void know_arithmetic(void)
{
	tree_roots.arithmetic = answer_arithmetic;
	tree_roots.context = &arithmetic_now;
	arithmetic_known = true;
	input.arithmetic = true;
}

Test(dependencies_build, a_result_of_the_mathematics_library_holds_only_with_the_same_one)
{
	know_arithmetic();
	build();
	cr_assert_gt(built.size, 0);
	assert_holds();
	arithmetic_now.bytes[KEY_BYTES - 1] ^= 1;
	cr_assert_not(dependencies_hold(built.bytes, built.size, &tree_roots, NULL, why, sizeof(why)));
	cr_assert_str_eq(why, "the mathematics library differs");
	arithmetic_now.bytes[KEY_BYTES - 1] ^= 1;
	arithmetic_known = false;
	cr_assert_not(dependencies_hold(built.bytes, built.size, &tree_roots, NULL, NULL, 0));
	tree_roots.arithmetic = NULL;
	cr_assert_not(dependencies_hold(built.bytes, built.size, &tree_roots, NULL, NULL, 0));
}

Test(dependencies_build, the_mathematics_library_is_digested_only_if_a_result_depends_on_it)
{
	put_file(in_tree("a.h"), "one");
	see_open(in_tree("a.h"));
	build();
	know_arithmetic();
	tree_roots.context = NULL; /* an answer would fail */
	assert_holds();
}

Test(dependencies_build, an_unknown_mathematics_library_is_rejected)
{
	know_arithmetic();
	arithmetic_known = false;
	assert_refused();
}

Test(dependencies_build, dependencies_truncated_in_the_mathematics_digest_do_not_hold)
{
	know_arithmetic();
	build();
	assert_no_part_holds();
}

static struct key companion_now;
static bool companion_known;

static const struct key *answer_companion(void *context)
{
	(void)context;
	return companion_known ? &companion_now : NULL;
}

static void know_companion(void)
{
	companion_known = true;
	tree_roots.companion = answer_companion;
	input.companion = &companion_now;
}

Test(dependencies_build, a_result_holds_only_with_the_same_companion)
{
	struct key then;

	know_companion();
	build();
	cr_assert_gt(built.size, 0);
	cr_expect_not(dependencies_name_files(built.bytes, built.size));
	assert_holds();
	then = companion_now;
	input.companion = &then;
	companion_now.bytes[KEY_BYTES - 1] ^= 1;
	assert_not("the library that the compiler loads differs");
	companion_now = then;
	companion_known = false;
	assert_not("the library that the compiler loads cannot be foretold");
	tree_roots.companion = NULL;
	assert_not("the library that the compiler loads cannot be foretold");
}

Test(dependencies_build, companion_and_mathematics_library_are_not_mistaken_for_each_other)
{
	know_companion();
	know_arithmetic();
	companion_now.bytes[0] = 1;
	build();
	assert_holds();
	companion_now.bytes[0] = 0;
	arithmetic_now.bytes[0] = 1;
	assert_not("the library that the compiler loads differs");
}

Test(dependencies_build, dependencies_truncated_in_the_companion_do_not_hold)
{
	know_companion();
	build();
	assert_no_part_holds();
}

static int64_t processors(void)
{
	int64_t answer = 0;

	cr_assert(machine_ask(MACHINE_GET_NPROCS, &answer));
	return answer;
}

Test(dependencies_build, a_result_holds_with_the_same_number_of_processors)
{
	trace_answered(&trace, MACHINE_GET_NPROCS, processors());
	build();
	cr_assert_gt(built.size, 0);
	assert_holds();
	begin_trace();
	trace_answered(&trace, MACHINE_GET_NPROCS, processors() + 1);
	build();
	assert_not("the number of processors was ");
}

Test(dependencies_build, each_answer_is_compared_with_its_own_question)
{
	trace_answered(&trace, MACHINE_GET_NPROCS, processors());
	trace_answered(&trace, MACHINE_QUESTION(MACHINE_SYSCONF, _SC_PAGESIZE), sysconf(_SC_PAGESIZE));
	trace_answered(&trace, MACHINE_QUESTION(MACHINE_SYSCONF, _SC_CLK_TCK), sysconf(_SC_CLK_TCK) + 1);
	build();
	assert_not("sysconf(");
}

Test(dependencies_build, an_unknown_question_to_the_machine_does_not_hold)
{
	trace_answered(&trace, 0x77, 0);
	build();
	cr_assert_not(dependencies_hold(built.bytes, built.size, &tree_roots, NULL, NULL, 0));
}

Test(dependencies_build, truncated_answers_do_not_hold)
{
	trace_answered(&trace, MACHINE_GET_NPROCS, processors());
	trace_answered(&trace, MACHINE_QUESTION(MACHINE_SYSCONF, _SC_PAGESIZE), sysconf(_SC_PAGESIZE));
	build();
	assert_no_part_holds();
}

Test(dependencies_build, an_answer_that_changes_during_the_compile_is_rejected)
{
	trace_answered(&trace, MACHINE_GET_NPROCS, 2);
	trace_answered(&trace, MACHINE_GET_NPROCS, 2);
	cr_expect_eq(trace.tainted, 0);
	trace_answered(&trace, MACHINE_GET_NPROCS, 1);
	cr_expect_eq(trace.tainted, TAINT_TOLD_OTHERWISE);
}

Test(dependencies_build, more_answers_than_the_limit_are_rejected)
{
	for (uint32_t i = 0; i < MACHINE_ANSWERS_MAX; i++) {
		trace_answered(&trace, MACHINE_QUESTION(MACHINE_SYSCONF, MACHINE_ANSWERS_MAX - i), 0);
	}
	cr_expect_eq(trace.tainted, 0);
	trace_answered(&trace, MACHINE_GET_NPROCS, 2);
	cr_expect_eq(trace.tainted, TAINT_UNKNOWN_CALL);
}

Test(dependencies_build, a_trace_of_more_paths_than_a_look_up_compares_is_rejected)
{
	char path[64];

	put_file(in_tree("a.h"), "int a;");
	see_header(in_tree("a.h"));
	for (unsigned i = 1; i < DEPENDENCIES_PATHS_MAX; i++) {
		(void)snprintf(path, sizeof(path), "/nowhere/%u", i);
		trace_add(&trace, &(struct trace_event){.kind = TRACE_PROBE, .path = path, .error = ENOENT});
	}
	build();
	trace_add(&trace, &(struct trace_event){.kind = TRACE_PROBE, .path = "/nowhere/0", .error = ENOENT});
	assert_refused();
}

/* SPDX-License-Identifier: MIT */
/* Answers to the compiler are compared with the key at each call: other threads may change directories and variables
 * and change them back. */
#include "interpose/watch/snapshot.h"
#include "watch_fixture.h"

#include <sys/sysinfo.h>

WATCHED(watch_told);

#define VARIABLES(X)             \
	X(CALL, NVVM_IR_VER_CHK) \
	X(PLAIN, TMPDIR)         \
	X(PLACE, PWD)

static const struct variable variables[] = {VARIABLES(ENVIRONMENT_VARIABLE)};
static struct environment environment = ENVIRONMENT_OF(VARIABLES, variables);
static struct snapshot *snapshot;

static void begin_told(void)
{
	trace_free(&trace);
	snapshot = snapshot_take(&environment);
	cr_assert_not_null(snapshot);
	trace_init(&trace, now_ns() + INT64_C(10000000000));
	trace.told = snapshot;
	live_begin(&trace);
}

static uint32_t end_told(void)
{
	live_end(&trace);
	snapshot_free(snapshot);
	return trace.tainted;
}

static void tell(void)
{
	char text[PATH_MAX];

	cr_assert_not_null(LIB(patched, getcwd)(text, sizeof(text)));
	LIB(patched, getenv)("PWD");
	LIB(patched, getenv)("NVVM_IR_VER_CHK");
	LIB(patched, getenv)("WATCHED_TEST_UNKNOWN");
	LIB(patched, stat)(".", &status);
}

Test(watch_told, an_unchanged_process_does_not_taint)
{
	setenv("PWD", place, 1);
	setenv("NVVM_IR_VER_CHK", "0", 1);
	begin_told();
	tell();
	tell();
	cr_expect_eq(end_told(), 0);
}

Test(watch_told, a_too_small_buffer_for_getcwd_does_not_taint)
{
	char text[2];

	begin_told();
	cr_expect_null(LIB(patched, getcwd)(text, sizeof(text)));
	cr_expect_eq(errno, ERANGE);
	cr_expect_eq(end_told(), 0);
}

/* Performs `act` in another working directory, and returns before the compile ends. */
#define ELSEWHERE(act)                                 \
	do {                                           \
		cr_assert_eq(mkdir("other", 0700), 0); \
		begin_told();                          \
		cr_assert_eq(chdir("other"), 0);       \
		act;                                   \
		cr_assert_eq(chdir(".."), 0);          \
	} while (0)

Test(watch_told, another_working_directory_during_one_getcwd_taints)
{
	char text[PATH_MAX];

	ELSEWHERE(LIB(patched, getcwd)(text, sizeof(text)));
	cr_expect_eq(end_told(), TAINT_TOLD_OTHERWISE);
}

Test(watch_told, another_working_directory_during_one_stat_taints)
{
	ELSEWHERE(LIB(patched, stat)(".", &status));
	cr_expect_eq(end_told(), TAINT_TOLD_OTHERWISE);
}

Test(watch_told, a_working_directory_missing_during_one_getcwd_taints)
{
	char text[PATH_MAX];

	ELSEWHERE({
		cr_assert_eq(rmdir("../other"), 0);
		cr_expect_null(LIB(patched, getcwd)(text, sizeof(text)));
		cr_assert_eq(chdir(place), 0);
		cr_assert_eq(mkdir("other", 0700), 0);
		cr_assert_eq(chdir("other"), 0);
	});
	cr_expect_eq(end_told(), TAINT_TOLD_OTHERWISE);
}

Test(watch_told, another_directory_at_the_path_in_PWD_taints)
{
	setenv("PWD", "link", 1);
	cr_assert_eq(symlink(".", "link"), 0);
	cr_assert_eq(symlink("/", "root"), 0);
	begin_told();
	cr_assert_eq(rename("root", "link"), 0);
	LIB(patched, stat)("link", &status);
	cr_expect_eq(end_told(), TAINT_TOLD_OTHERWISE);
}

/* Sets `variable` to `value` during one getenv(), and back before the compile ends. Returns the taints. */
static uint32_t flipped(const char *variable, const char *before, const char *value)
{
	unsetenv(variable);
	if (before) {
		setenv(variable, before, 1);
	}
	begin_told();
	(void)(value ? setenv(variable, value, 1) : unsetenv(variable));
	LIB(patched, getenv)(variable);
	(void)(before ? setenv(variable, before, 1) : unsetenv(variable));
	return end_told();
}

Test(watch_told, a_variable_of_the_key_that_differs_during_one_getenv_taints)
{
	cr_expect_eq(flipped("NVVM_IR_VER_CHK", NULL, "1"), TAINT_TOLD_OTHERWISE);
	cr_expect_eq(flipped("NVVM_IR_VER_CHK", "0", "1"), TAINT_TOLD_OTHERWISE);
	cr_expect_eq(flipped("NVVM_IR_VER_CHK", "0", NULL), TAINT_TOLD_OTHERWISE);
	cr_expect_eq(flipped("NVVM_IR_VER_CHK", "0", "0"), 0);
	cr_expect_eq(flipped("PWD", "/", "/tmp"), TAINT_TOLD_OTHERWISE);
}

Test(watch_told, an_unlisted_variable_set_during_one_getenv_taints)
{
	cr_expect_eq(flipped("WATCHED_TEST_UNKNOWN", NULL, "1"), TAINT_TOLD_OTHERWISE);
	cr_expect_eq(flipped("WATCHED_TEST_UNKNOWN", NULL, NULL), 0);
}

Test(watch_told, an_irrelevant_variable_may_change)
{
	cr_expect_eq(flipped("TMPDIR", place, "/"), 0);
}

static void *tell_elsewhere(void *unused)
{
	tell();
	return unused;
}

Test(watch_told, answers_to_another_thread_of_the_compiler_are_checked)
{
	unsetenv("NVVM_IR_VER_CHK");
	begin_told();
	setenv("NVVM_IR_VER_CHK", "1", 1);
	on_another_thread(tell_elsewhere);
	unsetenv("NVVM_IR_VER_CHK");
	cr_expect_eq(end_told() & ~(uint32_t)TAINT_OTHER_THREAD, TAINT_TOLD_OTHERWISE);
}

Test(watch_told, a_path_that_names_two_files_taints)
{
	write_text("a.h", "one");
	write_text("b.h", "two");
	begin_told();
	LIB(patched, stat)("a.h", &status);
	cr_assert_eq(rename("b.h", "a.h"), 0);
	LIB(patched, stat)("a.h", &status);
	cr_expect_eq(end_told(), TAINT_TOO_NEW);
}

Test(watch_told, a_path_that_appears_or_vanishes_taints)
{
	begin_told();
	LIB(patched, stat)("a.h", &status);
	write_text("a.h", "one");
	LIB(patched, stat)("a.h", &status);
	cr_expect_eq(end_told(), TAINT_TOO_NEW);
	begin_told();
	LIB(patched, stat)("a.h", &status);
	cr_assert_eq(unlink("a.h"), 0);
	LIB(patched, stat)("a.h", &status);
	cr_expect_eq(end_told(), TAINT_TOO_NEW);
}

Test(watch_told, a_file_replaced_between_stat_and_open_taints)
{
	cr_assert_eq(mkdir("d", 0700), 0);
	cr_assert_eq(mkdir("e", 0700), 0);
	write_text("d/a.h", "one");
	write_text("e/a.h", "two");
	begin_told();
	LIB(patched, stat)("d/a.h", &status);
	cr_assert_eq(rename("d", "f"), 0);
	cr_assert_eq(rename("e", "d"), 0);
	fclose(LIB(patched, fopen)("d/a.h", "r"));
	cr_expect_eq(end_told(), TAINT_TOO_NEW);
}

Test(watch_told, a_directory_with_new_files_does_not_taint)
{
	cr_assert_eq(mkdir("d", 0700), 0);
	begin_told();
	LIB(patched, stat)("d", &status);
	write_text("d/a", "one");
	LIB(patched, stat)("d", &status);
	cr_expect_eq(end_told(), 0);
}

static int64_t answer_of(uint32_t question)
{
	for (size_t i = 0; i < trace.answer_count; i++) {
		if (trace.answers[i].question == question) {
			return trace.answers[i].answer;
		}
	}
	return -1;
}

Test(watch_told, queried_numbers_of_the_machine_are_recorded)
{
	int processors;
	long page;

	begin();
	processors = LIB(patched, get_nprocs)();
	page = LIB(patched, sysconf)(_SC_PAGESIZE);
	live_end(&trace);
	cr_expect_eq(trace.answer_count, 2);
	cr_expect_eq(answer_of(MACHINE_GET_NPROCS), processors);
	cr_expect_eq(answer_of(MACHINE_QUESTION(MACHINE_SYSCONF, _SC_PAGESIZE)), page);
	cr_expect_eq(trace.tainted, 0);
}

Test(watch_told, the_set_of_processors_of_the_thread_is_recorded)
{
	cpu_set_t set;
	int64_t now;

	begin();
	cr_assert_eq(LIB(patched, sched_getaffinity)(0, sizeof(set), &set), 0);
	live_end(&trace);
	cr_assert(machine_ask(MACHINE_AFFINITY, &now));
	cr_expect_eq(answer_of(MACHINE_AFFINITY), now);
	cr_expect_eq(trace.tainted, 0);
}

Test(watch_told, a_query_for_another_processs_processors_taints)
{
	cpu_set_t set;

	begin();
	LIB(patched, sched_getaffinity)(getppid(), sizeof(set), &set);
	live_end(&trace);
	cr_expect_eq(trace.answer_count, 0);
	cr_expect_neq(trace.tainted, 0);
}

static void *ask_processors(void *unused)
{
	LIB(patched, get_nprocs)();
	return unused;
}

Test(watch_told, a_number_queried_by_another_thread_is_added_to_every_compile)
{
	begin();
	on_another_thread(ask_processors);
	live_end(&trace);
	cr_expect_eq(trace.answer_count, 1);
	cr_expect_eq(trace.tainted, 0);
}

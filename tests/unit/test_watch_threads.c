/* SPDX-License-Identifier: MIT */
#include "watch_fixture.h"

#include <dirent.h>
#include <sys/socket.h>

WATCHED(watch_threads);

/* The watch changes nothing for the host. */

Test(watch_threads, errno_is_that_of_the_real_call)
{
	FILE *stream;

	write_text("a.h", "1");
	begin();
	errno = 99;
	stream = LIB(patched, fopen)("a.h", "r");
	cr_expect_eq(errno, 99, "after fopen: %d", errno);
	fclose(stream);
	errno = 99;
	LIB(patched, stat)("a.h", &status);
	cr_expect_eq(errno, 99);
	LIB(patched, access)("a.h", F_OK);
	cr_expect_eq(errno, 99);
	LIB(patched, getenv)("WATCHED_TEST");
	cr_expect_eq(errno, 99);
	LIB(patched, opendir)("a.h");
	cr_expect_eq(errno, ENOTDIR);
	LIB(patched, unlink)("none");
	cr_expect_eq(errno, ENOENT);
	LIB(patched, open)("a.h/b", O_RDONLY, 0);
	cr_expect_eq(errno, ENOTDIR);
	LIB(patched, readlink)("a.h", (char[4]){0}, 4);
	cr_expect_eq(errno, EINVAL);
	errno = 99;
	live_end(&trace);
	cr_expect_eq(errno, 99);
}

Test(watch_threads, dlerror_is_preserved_for_the_host)
{
	patched = (struct patched){.handle = load_fixture("watched_now.so")};
	patched.object = object_of(patched.handle, "lib_fopen");
	FILE *(*open_file)(const char *, const char *) = LIB(patched, fopen);
	cr_assert_null(dlopen("/nonexistent/library.so", RTLD_LAZY));
	cr_assert_eq(watch_patch(&patched.object, resolve_here, &patched.watch, NULL), 0);
	keep(patched.watch);
	begin();
	open_file("none", "r");
	live_end(&trace);
	cr_expect_not_null(dlerror());
}

Test(watch_threads, without_a_compile_calls_are_only_forwarded)
{
	patched = patch_fixture("watched_now.so");

	write_text("a.h", "1");
	cr_expect_eq(LIB(patched, stat)("a.h", &status), 0);
	cr_expect_eq(status.st_size, 1);
	cr_expect_eq(LIB(patched, mkdir)("d", 0700), 0);
	cr_expect_str_eq(LIB(patched, getenv)("PATH"), getenv("PATH"));
}

Test(watch_threads, ending_a_compile_that_did_not_begin_does_nothing)
{
	struct trace other;

	trace_init(&trace, now_ns());
	live_end(&trace);
	begin_trace(&other);
	live_end(&trace);
	cr_expect_eq(other.tainted, 0);
	live_end(&other);
	trace_free(&other);
}

Test(watch_threads, an_inner_compile_hides_the_outer_one_and_taints_it)
{
	struct trace outer, inner;

	begin_trace(&outer);
	LIB(patched, getenv)("OUTER");
	begin_trace(&inner);
	LIB(patched, getenv)("INNER");
	LIB(patched, mkdir)("d", 0700);
	live_end(&inner);
	LIB(patched, fopen)("outer.h", "r");
	live_end(&outer);
	cr_expect(asked_in(&outer, "OUTER") && !asked_in(&outer, "INNER"));
	cr_expect(asked_in(&inner, "INNER") && !asked_in(&inner, "OUTER"));
	cr_expect_eq(outer.count, 1);
	cr_expect_eq(outer.tainted, TAINT_WRITE);
	trace_free(&outer);
	trace_free(&inner);
}

/* Threads. */

static void *look_for_a_file(void *unused)
{
	LIB(patched, stat)("some.h", &status);
	return unused;
}

static void *ask_for_variables(void *unused)
{
	char name[32];

	LIB(patched, getenv)("STRANGE");
	for (int i = 0; i < 100; i++) {
		snprintf(name, sizeof(name), "STRANGE_%d", i % 50);
		LIB(patched, getenv)(name);
	}
	return unused;
}

Test(watch_threads, file_accesses_of_another_thread_taint)
{
	begin();
	on_another_thread(look_for_a_file);
	live_end(&trace);
	cr_expect_eq(trace.tainted, TAINT_OTHER_THREAD);
	cr_expect_eq(trace.count, 0);
}

Test(watch_threads, variables_queried_by_another_thread_are_added)
{
	begin();
	on_another_thread(ask_for_variables);
	live_end(&trace);
	cr_expect_eq(trace.tainted, 0);
	cr_expect(asked("STRANGE"));
	cr_expect_eq(count_asked(&trace), 51);
}

static void *compile_elsewhere(void *unused)
{
	struct trace mine;
	struct stat found;
	char name[32];

	for (int i = 0; i < 200; i++) {
		snprintf(name, sizeof(name), "own%d.h", i);
		begin_trace(&mine);
		LIB(patched, stat)(name, &found);
		LIB(patched, getenv)(name);
		live_end(&mine);
		cr_assert_eq(mine.count, 1);
		cr_assert_eq(count_asked(&mine), 1);
		cr_assert_str_eq(mine.events[0].path, name);
		cr_assert_eq(mine.tainted, 0);
		trace_free(&mine);
	}
	return unused;
}

Test(watch_threads, compiles_on_several_threads_have_separate_traces)
{
	pthread_t threads[8];

	start_threads(threads, 8, compile_elsewhere);
	join_threads(threads, 8);
}

/* Fork. */

Test(watch_threads, a_compile_continues_in_a_forked_child)
{
	pid_t child;

	begin();
	child = fork();
	if (child == 0) {
		live_fork_child();
		LIB(patched, getenv)("IN_CHILD");
		on_another_thread(ask_for_variables);
		live_end(&trace);
		_exit(asked("IN_CHILD") && asked("STRANGE") && trace.tainted == 0 ? 0 : 1);
	}
	cr_expect_eq(exit_of(child), 0);
	live_end(&trace);
	cr_expect_not(asked("IN_CHILD"));
}

static struct trace elsewhere;
static int steps[2];

static _Atomic(struct live *) held;

static void *hold_traces(void *unused)
{
	atomic_store(&held, live_first());
	pause();
	return unused;
}

Test(watch_threads, a_child_forked_while_another_thread_adds_to_the_traces_keeps_no_result)
{
	pthread_t thread;
	pid_t child;

	begin();
	cr_assert_eq(pthread_create(&thread, NULL, hold_traces, NULL), 0);
	while (!atomic_load(&held)) {
		usleep(1000);
	}
	child = fork();
	if (child == 0) {
		live_fork_child();
		live_end(&trace);
		_exit(trace.tainted == TAINT_OTHER_THREAD ? 0 : 1);
	}
	cr_expect_eq(exit_of(child), 0);
}

static void *compile_until_told(void *unused)
{
	char byte;

	begin_trace(&elsewhere);
	cr_assert_eq(write(steps[1], "b", 1), 1);
	while (read(steps[0], &byte, 1) != 1 || byte != 'e') {
		usleep(1000);
	}
	live_end(&elsewhere);
	return unused;
}

Test(watch_threads, a_child_without_handlers_drops_compiles_of_other_threads, .timeout = 60)
{
	pthread_t thread;
	char byte;
	pid_t child;

	cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, steps), 0);
	/* a socket pair: the thread reports its begin on one end, then waits on it */
	int ours = steps[0];
	steps[0] = steps[1];
	cr_assert_eq(pthread_create(&thread, NULL, compile_until_told, NULL), 0);
	cr_assert_eq(read(ours, &byte, 1), 1);
	child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
	if (child == 0) {
		begin();
		LIB(patched, getenv)("IN_CHILD");
		live_end(&trace);
		_exit(asked("IN_CHILD") ? 0 : 1);
	}
	cr_expect_eq(exit_of(child), 0);
	cr_assert_eq(write(ours, "e", 1), 1);
	pthread_join(thread, NULL);
	trace_free(&elsewhere);
	close(ours);
	close(steps[1]);
}

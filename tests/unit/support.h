/* SPDX-License-Identifier: MIT */
/*
 * support: what unit tests have in common: the headers of the C library, skipping, children, threads, the clock
 *
 * A test that cannot run here says what would be needed: skip_unless(geteuid() == 0, "needs root"). Criterion exits in
 * the middle of a skipped test, without the .fini of it and its suite: what the test had made would stay. Here they run
 * first.
 */
#ifndef TESTS_UNIT_SUPPORT_H
#define TESTS_UNIT_SUPPORT_H

#include "tests/files.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define skip_test(...)                     \
	do {                               \
		skip_fini();               \
		cr_skip_test(__VA_ARGS__); \
	} while (0)

#define skip_unless(can, ...)                   \
	do {                                    \
		if (!(can)) {                   \
			skip_test(__VA_ARGS__); \
		}                               \
	} while (0)

/* A test that is one row of a table: a call of what several tests share. */
#define ROW(suite, name, call) \
	Test(suite, name)      \
	{                      \
		call;          \
	}

/* A statement about `text`, for each of the strings. */
#define EACH_STRING(text, statement, ...)                            \
	do {                                                         \
		static const char *const strings_[] = {__VA_ARGS__}; \
		for (size_t i_ = 0; i_ < COUNT(strings_); i_++) {    \
			const char *text = strings_[i_];             \
			statement;                                   \
		}                                                    \
	} while (0)

/* Criterion packs what it gives a test's process, so that nothing there is aligned. */
static inline void skip_fini_of(const void *data)
{
	struct criterion_test_extra_data extra;

	if (data) {
		memcpy(&extra, data, sizeof(extra));
		if (extra.fini) {
			extra.fini();
		}
	}
}

static inline void skip_fini(void)
{
	skip_fini_of(criterion_current_test->data);
	skip_fini_of(criterion_current_suite->data);
}

/* A directory for each test of a suite with .init = own_directory_make, .fini = own_directory_remove. */
static char own_directory[200];

static inline void own_directory_make(void)
{
	cr_assert(private_directory_make(own_directory, sizeof(own_directory), "unit-test"));
}

static inline void own_directory_remove(void)
{
	remove_tree(own_directory);
}

/* Waits for a child. Returns its exit code, or -1 if it was killed. */
static inline int exit_of(pid_t child)
{
	int status = -1;

	cr_assert_eq(waitpid(child, &status, 0), child);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static inline pid_t *latest_child(void)
{
	static pid_t child;

	return &child;
}

/* Works out `code` in a child, which exits with it. Returns what exit_of() says. */
#define in_child(code) ((*latest_child() = fork()) == 0 ? (_exit(code), -1) : exit_of(*latest_child()))

/* Expects that something holds in a child that has changed itself: `become` is false where that is not possible. */
#define expect_in_child(become, truth)                                                  \
	do {                                                                            \
		const int code_ = in_child(!(become) ? 99 : (truth) ? 0 : 1);           \
		skip_unless(code_ != 99, "processes cannot do this here: %s", #become); \
		cr_expect_eq(code_, 0, "%s", #truth);                                   \
	} while (0)

/* Starts threads whose argument is their number. */
static inline void start_threads(pthread_t *threads, uintptr_t count, void *(*body)(void *number))
{
	for (uintptr_t i = 0; i < count; i++) {
		cr_assert_eq(pthread_create(&threads[i], NULL, body, (void *)i), 0);
	}
}

static inline void join_threads(const pthread_t *threads, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		pthread_join(threads[i], NULL);
	}
}

static inline void on_another_thread(void *(*body)(void *number))
{
	pthread_t thread;

	start_threads(&thread, 1, body);
	join_threads(&thread, 1);
}

static inline int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

#endif

/* SPDX-License-Identifier: MIT */
#include "cache/guard.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static struct guard guard = GUARD_INITIALIZER;
static atomic_int stage;

static void wait_for_stage(int wanted)
{
	while (atomic_load(&stage) != wanted) {
		usleep(1000);
	}
}

/* What a child says of the lock: 0 whole, 1 lost. It can have the lock in both cases. */
static int judged_in_child(void)
{
	int status = -1;
	pid_t child = fork();

	if (child == 0) {
		bool whole;

		alarm(60);
		whole = guard_fork_child(&guard);
		guard_lock(&guard);
		guard_unlock(&guard);
		_exit(whole ? 0 : 1);
	}
	cr_assert_eq(waitpid(child, &status, 0), child);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

Test(guard, what_nobody_had_is_whole_in_a_child, .timeout = 90)
{
	guard_lock(&guard);
	guard_unlock(&guard);
	cr_expect_eq(judged_in_child(), 0);
}

static void *hold(void *unused)
{
	guard_lock(&guard);
	atomic_store(&stage, 1);
	wait_for_stage(2);
	guard_unlock(&guard);
	return unused;
}

Test(guard, what_another_thread_had_is_lost_in_a_child_and_the_lock_is_free, .timeout = 90)
{
	pthread_t thread;

	cr_assert_eq(pthread_create(&thread, NULL, hold, NULL), 0);
	wait_for_stage(1);
	cr_expect_eq(judged_in_child(), 1);
	atomic_store(&stage, 2);
	pthread_join(thread, NULL);
}

static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;

static void *wait_under(void *unused)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += 60;
	guard_lock(&guard);
	atomic_store(&stage, 1);
	while (atomic_load(&stage) != 2) {
		(void)guard_wait(&guard, &condition, &until);
	}
	guard_unlock(&guard);
	return unused;
}

Test(guard, who_waits_for_a_condition_has_it_not, .timeout = 90)
{
	pthread_t thread;

	cr_assert_eq(pthread_create(&thread, NULL, wait_under, NULL), 0);
	wait_for_stage(1);
	guard_lock(&guard); /* not before the other waits */
	guard_unlock(&guard);
	cr_expect_eq(judged_in_child(), 0);
	guard_lock(&guard);
	atomic_store(&stage, 2);
	pthread_cond_signal(&condition);
	guard_unlock(&guard);
	pthread_join(thread, NULL);
}

static pid_t from_handler;

static void fork_in_handler(int number)
{
	(void)number;
	from_handler = fork();
	if (from_handler == 0) {
		alarm(60);
		if (!guard_fork_child(&guard)) {
			_exit(2);
		}
	}
}

Test(guard, a_thread_that_forks_in_a_signal_handler_keeps_what_it_had, .timeout = 90)
{
	int status = -1;

	signal(SIGUSR1, fork_in_handler);
	guard_lock(&guard);
	raise(SIGUSR1);
	if (pthread_mutex_trylock(&guard.mutex) == 0) {
		_exit(3);
	}
	guard_unlock(&guard);
	guard_lock(&guard);
	guard_unlock(&guard);
	if (from_handler == 0) {
		_exit(0);
	}
	cr_assert_eq(waitpid(from_handler, &status, 0), from_handler);
	cr_expect_eq(status, 0);
}

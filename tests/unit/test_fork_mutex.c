/* SPDX-License-Identifier: MIT */
#include "cache/fork_mutex.h"
#include "tests/unit/support.h"

static struct fork_mutex lock = FORK_MUTEX_INITIALIZER;
static atomic_int stage;

static void wait_for_stage(int wanted)
{
	while (atomic_load(&stage) != wanted) {
		usleep(1000);
	}
}

/* Returns what a child finds: 0, or 1 if the lock was lost. The child can take the lock in both cases. */
static int judged_in_child(void)
{
	pid_t child = fork();

	if (child == 0) {
		bool whole;

		alarm(300);
		whole = fork_mutex_fork_child(&lock);
		fork_mutex_lock(&lock);
		fork_mutex_unlock(&lock);
		_exit(whole ? 0 : 1);
	}
	return exit_of(child);
}

static void *hold(void *unused)
{
	fork_mutex_lock(&lock);
	atomic_store(&stage, 1);
	wait_for_stage(2);
	fork_mutex_unlock(&lock);
	return unused;
}

Test(fork_mutex, a_lock_held_by_another_thread_is_free_in_the_child_and_reported_as_lost, .timeout = 90)
{
	pthread_t thread;

	cr_assert_eq(pthread_create(&thread, NULL, hold, NULL), 0);
	wait_for_stage(1);
	cr_expect_eq(judged_in_child(), 1);
	atomic_store(&stage, 2);
	pthread_join(thread, NULL);
}

static pid_t from_handler;

static void fork_in_handler(int number)
{
	from_handler = fork();
	if (from_handler == 0) {
		alarm(300);
		if (!fork_mutex_fork_child(&lock)) {
			_exit(2);
		}
	}
}

Test(fork_mutex, a_thread_that_forks_in_a_signal_handler_still_holds_the_lock, .timeout = 90)
{
	signal(SIGUSR1, fork_in_handler);
	fork_mutex_lock(&lock);
	raise(SIGUSR1);
	if (pthread_mutex_trylock(&lock.mutex) == 0) {
		_exit(3);
	}
	fork_mutex_unlock(&lock);
	fork_mutex_lock(&lock);
	fork_mutex_unlock(&lock);
	if (from_handler == 0) {
		_exit(0);
	}
	cr_expect_eq(exit_of(from_handler), 0);
}

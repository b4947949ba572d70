/* SPDX-License-Identifier: MIT */
/* In this process, where the thread that holds is known to be idle, busy or gone. */
#include "cache/calls.h"
#include "cache/compile_lock_file.h"
#include "tests/unit/support.h"

static atomic_bool stops;
static _Atomic int64_t code;

static void *be_busy(void *unused)
{
	code = holder_code();
	while (!stops) {
	}
	return NULL;
}

static void *be_idle(void *unused)
{
	code = holder_code();
	while (!stops) {
		pause();
	}
	return NULL;
}

static void wake(int signal)
{
}

/* Looks at a thread until it rests, or `seconds` long. */
static bool rests_within(int64_t seconds)
{
	struct holder_watch watch = {0};
	int64_t end = call_clock_straight() + seconds * 1000000000;

	while (!holder_rests(&watch, code)) {
		if (call_clock_straight() > end) {
			return false;
		}
		call_pause(10000000);
	}
	return true;
}

static bool thread_rests(void *(*body)(void *), int64_t seconds)
{
	pthread_t thread;
	bool rests;

	signal(SIGUSR1, wake);
	cr_assert_eq(pthread_create(&thread, NULL, body, NULL), 0);
	while (code == 0) {
		sched_yield();
	}
	rests = rests_within(seconds);
	stops = true;
	pthread_kill(thread, SIGUSR1);
	pthread_join(thread, NULL);
	return rests;
}

ROW(holder, a_busy_thread_makes_progress, cr_expect_not(thread_rests(be_busy, 3)))
ROW(holder, an_idle_thread_rests_though_its_process_is_busy, cr_expect(thread_rests(be_idle, 200)))

Test(holder, a_thread_of_an_unknown_namespace_makes_progress)
{
	(void)thread_rests(be_busy, 0);
	code ^= INT64_C(1) << 22;
	cr_expect_not(rests_within(3));
}

/* SPDX-License-Identifier: MIT */
#include "cache/calls.h"
#include "tests/unit/counters_fixture.h"
#include "tests/unit/syscalls.h"

TestSuite(counters, .init = set_up, .fini = own_directory_remove);

Test(counters, every_counter_has_its_name_and_group)
{
	cr_expect_str_eq(counter_name(HITS), "hits_memory");
	cr_expect_str_eq(counter_name(COUNTER_BYPASSED_time_macros), "time_macros");
	cr_expect_str_eq(counter_name(COUNTER_ERRORS_internal), "internal");
	cr_expect_eq(counter_group(MISSES), COUNTER_TOTAL);
	cr_expect_eq(counter_group(COUNTER_BYPASSED_disabled), COUNTER_BYPASSED);
	cr_expect_eq(counter_group(COUNTER_ERRORS_directory), COUNTER_ERRORS);
}

Test(counters, misses_and_stores_are_written_at_once_however_many_there_were)
{
	for (uint64_t i = 1; i <= 600; i++) {
		count(i % 2 ? MISSES : COUNTER_TOTAL_stores, 1, COUNTERS_WHEN_DUE);
		cr_assert_eq(total(MISSES) + total(COUNTER_TOTAL_stores), i);
	}
}

Test(counters, hits_of_a_young_process_are_written_one_by_one)
{
	for (uint64_t i = 1; i <= 200; i++) {
		count(HITS, 1, COUNTERS_WHEN_DUE);
		cr_assert_eq(total(HITS), i);
	}
}

/* A worker on a busy machine may have only a few hits in its first second, and end with _exit. */
Test(counters, the_first_hits_of_an_old_process_are_written_one_by_one_too)
{
	count(HITS, 1, COUNTERS_WHEN_DUE);
	(void)usleep(1100000);
	for (uint64_t i = 2; i <= 100; i++) {
		count(HITS, 1, COUNTERS_WHEN_DUE);
		cr_assert_eq(total(HITS), i);
	}
}

Test(counters, a_forked_child_counts_as_a_young_process)
{
	pid_t child;

	for (int i = 0; i < 1000; i++) {
		count(HITS, 1, COUNTERS_WHEN_DUE);
	}
	cr_assert_eq(counters_flush(root, COUNTERS_WRITABLE, COUNTERS_NOW), 0);
	child = fork();
	if (child == 0) {
		counters_fork_child();
		for (int i = 0; i < 100; i++) {
			counters_add(HITS, 1);
			if (counters_flush(root, COUNTERS_WRITABLE, COUNTERS_WHEN_DUE) != 0) {
				_exit(1);
			}
		}
		_exit(0);
	}
	cr_assert_eq(exit_of(child), 0);
	cr_expect_eq(total(HITS), 1100);
}

Test(counters, a_loop_of_hits_is_not_written_hit_by_hit)
{
	int flushed = 0;

	for (int i = 0; i < 300; i++) {
		count(HITS, 1, COUNTERS_WHEN_DUE);
	}

	/* if the machine stalls, a late hit is written at once, and the next hit follows immediately */
	for (int i = 0; i < 10 && flushed != 1; i++) {
		uint64_t before;

		count(HITS, 1, COUNTERS_NOW);
		before = total(HITS);
		count(HITS, 1, COUNTERS_WHEN_DUE);
		flushed = total(HITS) == before;
		cr_assert_eq(counters_flush(root, COUNTERS_WRITABLE, COUNTERS_NOW), 0);
		cr_expect_eq(total(HITS), counters_here(HITS));
	}
	cr_expect_eq(flushed, 1);
}

Test(counters, a_flush_without_new_counts_writes_nothing)
{
	cr_assert_eq(counters_flush(root, COUNTERS_WRITABLE, COUNTERS_NOW), 0);
	cr_expect_not(exists(root));
}

Test(counters, a_missing_directory_has_counts_of_zero)
{
	cr_expect_eq(total(MISSES), 0);
	cr_expect_eq(counters_zero(root), 0);
	cr_expect_not(exists(root));
}

Test(counters, a_relative_directory_is_rejected)
{
	uint64_t values[COUNTER_COUNT];

	counters_add(MISSES, 1);
	cr_expect_eq(counters_flush(NULL, COUNTERS_WRITABLE, COUNTERS_NOW), -ENXIO);
	cr_expect_eq(counters_flush("here", COUNTERS_WRITABLE, COUNTERS_NOW), -EINVAL);
	cr_expect_eq(counters_read(NULL, values, NULL), -ENXIO);
	cr_expect_eq(counters_zero(NULL), -ENXIO);
}

Test(counters, a_forked_child_does_not_count_what_its_parent_has_not_written)
{
	pid_t child;

	counters_add(MISSES, 5);
	child = fork();
	if (child == 0) {
		counters_fork_child();
		if (counters_here(MISSES) != 0) {
			_exit(2);
		}
		counters_add(MISSES, 1);
		_exit(counters_flush(root, COUNTERS_WRITABLE, COUNTERS_NOW) != 0);
	}
	cr_assert_eq(exit_of(child), 0);
	cr_expect_eq(total(MISSES), 1);
	cr_assert_eq(counters_flush(root, COUNTERS_WRITABLE, COUNTERS_NOW), 0);
	cr_expect_eq(total(MISSES), 6);
}

Test(counters, a_child_whose_fork_handlers_did_not_run_does_not_double_count)
{
	count(MISSES, 1, COUNTERS_NOW);
	counters_add(MISSES, 5);
	cr_assert_eq(in_child(counters_flush(root, COUNTERS_WRITABLE, COUNTERS_NOW) != 0), 0);
	cr_expect_eq(total(MISSES), 1);
}

Test(counters, eight_processes_that_flush_into_one_file_lose_nothing)
{
	enum { PROCESSES = 8, ROUNDS = 200 };
	pid_t children[PROCESSES];
	pid_t like = getpid();

	count(HITS, 1, COUNTERS_NOW);
	for (int i = 0; i < PROCESSES; i++) {
		children[i] = fork_to_file_of(like);
		if (children[i] != 0) {
			continue;
		}
		counters_fork_child();
		for (int round = 0; round < ROUNDS; round++) {
			counters_add(MISSES, 1);
			counters_flush(root, COUNTERS_WRITABLE, COUNTERS_NOW); /* -EAGAIN: it stays counted */
		}
		while (counters_flush(root, COUNTERS_WRITABLE, COUNTERS_NOW) == -EAGAIN)
			;
		_exit(counters_here(MISSES) != ROUNDS);
	}
	for (int i = 0; i < PROCESSES; i++) {
		cr_assert_eq(exit_of(children[i]), 0);
	}
	cr_expect_eq(total(MISSES), PROCESSES * ROUNDS);
}

static void *hammer(void *unused)
{
	for (int i = 0; i < 2000; i++) {
		counters_add(HITS, 1);
		counters_flush(root, COUNTERS_WRITABLE, i % 50 == 0 ? COUNTERS_NOW : COUNTERS_WHEN_DUE);
	}
	return NULL;
}

Test(counters, threads_that_count_and_flush_lose_nothing)
{
	pthread_t threads[8];

	start_threads(threads, 8, hammer);
	join_threads(threads, 8);
	cr_assert_eq(counters_flush(root, COUNTERS_WRITABLE, COUNTERS_NOW), 0);
	cr_expect_eq(counters_here(HITS), 16000);
	cr_expect_eq(total(HITS), 16000);
}

Test(counters, a_flush_does_not_recreate_a_removed_directory)
{
	count(MISSES, 1, COUNTERS_NOW);
	remove_tree(root);
	counters_add(HITS, 1);
	cr_expect_eq(counters_flush(root, COUNTERS_WRITABLE, COUNTERS_NOW), -ENOENT);
	cr_expect_not(exists(root));
	counters_fork_child(); /* another process */
	count(HITS, 1, COUNTERS_NOW);
	cr_expect_eq(total(HITS), 1);
}

enum step { STEP_FIRST, STEP_AGAIN, STEP_STRAIGHT, STEPS };

static void flush_at_exit(void *context, unsigned step)
{
	if (step == STEP_FIRST) {
		counters_add(MISSES, 1);
	}
	if (step == STEP_STRAIGHT) {
		calls_go_straight();
	}
	if (counters_flush(root, COUNTERS_WRITABLE, COUNTERS_NOW) != 0) {
		_exit(1);
	}
}

Test(counters, the_last_flush_makes_no_system_call_if_all_is_written)
{
	struct syscalls counts[STEPS];

	skip_unless(syscalls_count(flush_at_exit, NULL, STEPS, counts), "no tracing here");
	cr_expect_gt(counts[STEP_FIRST].all, 0);
	cr_expect_eq(counts[STEP_AGAIN].all, 0);
	cr_expect_eq(counts[STEP_STRAIGHT].all, 0);
}

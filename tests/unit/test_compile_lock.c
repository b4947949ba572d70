/* SPDX-License-Identifier: MIT */
#include "cache/compile_lock.h"
#include "tests/unit/compile_lock_fixture.h"

TestSuite(compile_lock, .init = compile_lock_set_up, .fini = compile_lock_tear_down, .timeout = 300);

static struct compile_lock held; /* by each test */

static bool wait_for(struct compile_lock *lock, const uint8_t *key)
{
	return compile_lock_acquire(lock, &here.directory, 100000, key);
}

/* A thread that misses on compile_lock_key. `looks`: number of repeated look-ups; `held_it`: it held the lock at the
 * end. */
struct worker {
	pthread_t thread;
	_Atomic pid_t id;
	int looks;
	bool held_it;
	enum compile_lock_outcome outcome;
};

/* Whether look-ups find a result, and the number of compiles after look-ups that did not. */
static atomic_bool published;
static atomic_int compiles;

static void *work(void *context)
{
	struct worker *worker = context;
	struct compile_lock lock = {0};

	atomic_store(&worker->id, (pid_t)syscall(SYS_gettid));
	while (!atomic_load(&published) && wait_for(&lock, compile_lock_key)) {
		worker->looks++;
	}
	worker->held_it = lock.place != NULL;
	if (!atomic_load(&published)) {
		atomic_fetch_add(&compiles, 1);
		atomic_store(&published, worker->outcome == COMPILE_LOCK_KEPT);
	}
	compile_lock_release(&lock, worker->outcome);
	return NULL;
}

static void start(struct worker *worker)
{
	cr_assert_eq(pthread_create(&worker->thread, NULL, work, worker), 0);
	compile_lock_until_sleeping(&worker->id);
}

/* Starts workers that wait for a lock of this thread, which it then releases with `outcome`. */
static void wait_behind(struct worker *workers, int count, enum compile_lock_outcome outcome)
{
	struct compile_lock lock = {0};

	cr_assert(wait_for(&lock, compile_lock_key));
	cr_assert_not(wait_for(&lock, compile_lock_key));
	for (int i = 0; i < count; i++) {
		start(&workers[i]);
	}
	compile_lock_release(&lock, outcome);
	for (int i = 0; i < count; i++) {
		pthread_join(workers[i].thread, NULL);
	}
}

Test(compile_lock, the_first_caller_looks_up_once_more_and_compiles)
{
	cr_expect(wait_for(&held, compile_lock_key));
	cr_expect_not_null(held.place);
	cr_expect_not(wait_for(&held, compile_lock_key));
	cr_expect_eq(compile_lock_seen_from_outside(compile_lock_key), COMPILE_LOCK_FILE_GIVEN_UP);
	compile_lock_release(&held, COMPILE_LOCK_KEPT);
	compile_lock_release(&held, COMPILE_LOCK_KEPT);
	cr_expect_eq(compile_lock_seen_from_outside(compile_lock_key), COMPILE_LOCK_FILE_TAKEN);
	expect_no_descriptor_left();
}

Test(compile_lock, a_waiter_looks_up_once_and_does_not_wait_again)
{
	struct worker workers[4] = {0};

	wait_behind(workers, 4, COMPILE_LOCK_KEPT);
	for (int i = 0; i < 4; i++) {
		cr_expect_eq(workers[i].looks, 1);
		cr_expect_not(workers[i].held_it);
	}
}

Test(compile_lock, a_result_cached_in_this_process_only_is_found_by_its_threads)
{
	struct worker workers[2] = {0};

	wait_behind(workers, 2, COMPILE_LOCK_KEPT_HERE);
	cr_expect_eq(workers[0].looks, 1);
	cr_expect_eq(workers[1].looks, 1);
	cr_expect_eq(compile_lock_seen_from_outside(compile_lock_key), COMPILE_LOCK_FILE_NOT_KEPT);
}

Test(compile_lock, an_uncached_result_is_neither_looked_up_nor_waited_for_again)
{
	struct compile_lock again = {0};
	struct worker workers[4] = {0};

	wait_behind(workers, 4, COMPILE_LOCK_NOT_KEPT);
	for (int i = 0; i < 4; i++) {
		cr_expect_eq(workers[i].looks, 0);
		cr_expect_not(workers[i].held_it);
	}
	cr_expect_not(wait_for(&held, compile_lock_key));
	cr_expect_null(held.place);
	cr_expect_not(compile_lock_acquire(&again, NULL, 100000, compile_lock_key), "known to this process by itself");
	cr_expect_null(again.place);
	cr_expect_eq(compile_lock_seen_from_outside(compile_lock_key), COMPILE_LOCK_FILE_NOT_KEPT);
}

Test(compile_lock, a_result_useless_to_other_waiters_is_not_waited_for_again)
{
	struct worker workers[1] = {0};

	wait_behind(workers, 1, COMPILE_LOCK_KEPT); /* the worker looked up, missed, and acquired again */
	cr_expect_not(wait_for(&held, compile_lock_key));
	cr_expect_null(held.place);
}

Test(compile_lock, a_waiter_that_takes_over_compiles_for_the_others)
{
	struct worker workers[4] = {0};

	for (int i = 0; i < 4; i++) {
		workers[i].outcome = COMPILE_LOCK_KEPT;
	}
	wait_behind(workers, 4, COMPILE_LOCK_ABANDONED);
	cr_expect_eq(compiles, 1);
}

Test(compile_lock, a_nested_compile_does_not_wait)
{
	struct compile_lock outer = {0};
	struct compile_lock same = {0};
	struct compile_lock other = {0};
	struct compile_lock_file file = COMPILE_LOCK_FILE_CLOSED;

	cr_assert(wait_for(&outer, compile_lock_key));
	cr_expect_not(wait_for(&same, compile_lock_key));
	cr_expect_null(same.place);
	cr_assert_eq(compile_lock_file_acquire(&file, &here.directory, other_key, 0), COMPILE_LOCK_FILE_TAKEN);
	(void)wait_for(&other, other_key);
	cr_expect_not(wait_for(&other, other_key));
	compile_lock_release(&other, COMPILE_LOCK_KEPT);
	compile_lock_release(&same, COMPILE_LOCK_KEPT);
	compile_lock_release(&outer, COMPILE_LOCK_KEPT);
	compile_lock_file_release(&file);
	expect_no_descriptor_left();
}

/* A waiter of this test's thread, which sleeps in pthread_join() meanwhile. */
Test(compile_lock, a_thread_that_makes_no_progress_is_not_waited_for)
{
	struct worker worker = {0};

	cr_assert(wait_for(&held, compile_lock_key));
	cr_assert_eq(pthread_create(&worker.thread, NULL, work, &worker), 0);
	pthread_join(worker.thread, NULL);
	cr_expect_eq(worker.looks, 0);
	cr_expect_not(worker.held_it);
	compile_lock_release(&held, COMPILE_LOCK_KEPT);
}

static void *hold_place(void *number)
{
	struct compile_lock lock = {0};
	uint8_t key[ENTRY_KEY_BYTES] = {0xab, (uint8_t)(uintptr_t)number};

	cr_expect(wait_for(&lock, key));
	return lock.place; /* which stays held */
}

Test(compile_lock, when_all_places_are_in_use_a_caller_compiles)
{
	enum { PLACES = 64 };
	pthread_t threads[PLACES];
	void *place;

	start_threads(threads, PLACES, hold_place);
	for (int i = 0; i < PLACES; i++) {
		pthread_join(threads[i], &place);
		cr_expect_not_null(place);
	}
	cr_expect_not(wait_for(&held, compile_lock_key));
	cr_expect_null(held.place);
}

Test(compile_lock, a_key_that_changed_is_released)
{
	struct worker worker = {0};

	cr_assert(wait_for(&held, compile_lock_key));
	start(&worker);
	cr_expect_not(wait_for(&held, other_key));
	cr_expect_null(held.place);
	pthread_join(worker.thread, NULL);
	cr_expect(worker.held_it);
	cr_expect_not(wait_for(&held, other_key));
}

/* Fork. */

static void child_releases(bool handlers)
{
	struct compile_lock lock = {0};
	struct compile_lock again = {0};
	pid_t child;

	cr_assert(wait_for(&lock, compile_lock_key));
	child = fork();
	if (child == 0) {
		alarm(300);
		if (handlers) {
			compile_lock_fork_child();
		}
		if (handlers && descriptors_open() != here.descriptors) {
			_exit(1); /* a descriptor of the parent's lock */
		}
		compile_lock_release(&lock, COMPILE_LOCK_KEPT);
		if (descriptors_open() != here.descriptors) {
			_exit(2);
		}
		(void)wait_for(&again, other_key);
		if (!again.place) {
			_exit(3); /* the child can take locks of its own */
		}
		compile_lock_release(&again, COMPILE_LOCK_KEPT);
		_exit(0);
	}
	cr_expect_eq(exit_of(child), 0);
	cr_expect_eq(compile_lock_seen_from_outside(compile_lock_key), COMPILE_LOCK_FILE_GIVEN_UP,
	             "the child unlocked it");
	compile_lock_release(&lock, COMPILE_LOCK_KEPT);
	cr_expect_eq(compile_lock_seen_from_outside(compile_lock_key), COMPILE_LOCK_FILE_TAKEN);
	expect_no_descriptor_left();
}

ROW(compile_lock, a_forked_child_has_locks_of_its_own, child_releases(true))
ROW(compile_lock, a_child_forked_without_handlers_has_locks_of_its_own, child_releases(false))

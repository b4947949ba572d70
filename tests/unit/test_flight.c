/* SPDX-License-Identifier: MIT */
#include "cache/flight.h"
#include "tests/unit/flight_fixture.h"

TestSuite(flight, .init = flight_set_up, .fini = flight_tear_down, .timeout = 300);

static bool wait_for(struct flight *flight, const uint8_t *key)
{
	const struct flight_options options = {.directory = flight_fixture.path, .wait_seconds = 100000};

	return flight_wait(flight, &options, key);
}

static void ignore(void *context, const struct flight_file *file)
{
	(void)context;
	(void)file;
}

/* As another process would see it. */
static enum flight_file_state seen_from_outside(const uint8_t *key)
{
	struct flight_file file;
	enum flight_file_state state =
	    flight_file_take(&flight_fixture.directory, key, flight_far(), false, ignore, NULL, &file);

	if (state == FLIGHT_FILE_TAKEN) {
		flight_file_land(&file, FLIGHT_FILE_ENDED_WITHOUT);
	}
	return state;
}

/* A thread that misses on flight_key: how often it was to look again, and whether the flight was its own at the end. */
struct flyer {
	pthread_t thread;
	_Atomic pid_t id;
	int looks;
	bool seated;
	enum flight_outcome outcome;
};

/* What look-ups find, and what was done where they found nothing. */
static atomic_bool published;
static atomic_int compiles;

static void *fly(void *context)
{
	struct flyer *flyer = context;
	struct flight flight = {0};

	atomic_store(&flyer->id, (pid_t)syscall(SYS_gettid));
	while (!atomic_load(&published) && wait_for(&flight, flight_key)) {
		flyer->looks++;
	}
	flyer->seated = flight.seat != NULL;
	if (!atomic_load(&published)) {
		atomic_fetch_add(&compiles, 1);
		atomic_store(&published, flyer->outcome == FLIGHT_KEPT);
	}
	flight_land(&flight, flyer->outcome);
	return NULL;
}

static void start(struct flyer *flyer)
{
	cr_assert_eq(pthread_create(&flyer->thread, NULL, fly, flyer), 0);
	flight_until_sleeping(&flyer->id);
}

/* Starts flyers that wait for a flight of ours, which ends so. */
static void fly_behind(struct flyer *flyers, int count, enum flight_outcome outcome)
{
	struct flight flight = {0};

	cr_assert(wait_for(&flight, flight_key));
	cr_assert_not(wait_for(&flight, flight_key));
	for (int i = 0; i < count; i++) {
		start(&flyers[i]);
	}
	flight_land(&flight, outcome);
	for (int i = 0; i < count; i++) {
		pthread_join(flyers[i].thread, NULL);
	}
}

Test(flight, the_first_looks_once_more_and_compiles)
{
	struct flight flight = {0};

	cr_expect(wait_for(&flight, flight_key));
	cr_expect_not_null(flight.seat);
	cr_expect_not(wait_for(&flight, flight_key));
	cr_expect_eq(seen_from_outside(flight_key), FLIGHT_FILE_GIVEN_UP);
	flight_land(&flight, FLIGHT_KEPT);
	flight_land(&flight, FLIGHT_KEPT);
	cr_expect_eq(seen_from_outside(flight_key), FLIGHT_FILE_TAKEN);
	cr_expect_eq(descriptors_open(), flight_fixture.descriptors);
}

Test(flight, who_waits_looks_once_and_does_not_wait_again)
{
	struct flyer flyers[4] = {0};

	fly_behind(flyers, 4, FLIGHT_KEPT);
	for (int i = 0; i < 4; i++) {
		cr_expect_eq(flyers[i].looks, 1);
		cr_expect_not(flyers[i].seated);
	}
}

Test(flight, what_is_kept_in_this_process_only_is_found_there)
{
	struct flyer flyers[2] = {0};

	fly_behind(flyers, 2, FLIGHT_KEPT_HERE);
	cr_expect_eq(flyers[0].looks, 1);
	cr_expect_eq(flyers[1].looks, 1);
	cr_expect_eq(seen_from_outside(flight_key), FLIGHT_FILE_NOT_KEPT);
}

Test(flight, what_is_not_kept_is_not_looked_for_and_not_waited_for_again)
{
	const struct flight_options threads_only = {.wait_seconds = 100000};
	struct flight again = {0};
	struct flyer flyers[4] = {0};
	struct flight flight = {0};

	fly_behind(flyers, 4, FLIGHT_NOT_KEPT);
	for (int i = 0; i < 4; i++) {
		cr_expect_eq(flyers[i].looks, 0);
		cr_expect_not(flyers[i].seated);
	}
	cr_expect_not(wait_for(&flight, flight_key));
	cr_expect_null(flight.seat);
	cr_expect_not(flight_wait(&again, &threads_only, flight_key), "known to this process by itself");
	cr_expect_null(again.seat);
	cr_expect_eq(seen_from_outside(flight_key), FLIGHT_FILE_NOT_KEPT);
}

Test(flight, what_was_not_kept_in_another_process_is_not_waited_for_here)
{
	struct flight flight = {0};
	struct flight_file file;

	cr_assert_eq(flight_file_take(&flight_fixture.directory, flight_key, flight_far(), false, ignore, NULL, &file),
	             FLIGHT_FILE_TAKEN);
	flight_file_land(&file, FLIGHT_FILE_ENDED_NOT_KEPT);
	cr_expect_not(wait_for(&flight, flight_key));
	cr_expect_null(flight.seat);
	cr_expect_eq(descriptors_open(), flight_fixture.descriptors);
}

Test(flight, a_result_that_served_nobody_else_is_not_waited_for_again)
{
	struct flyer flyers[1] = {0};
	struct flight flight = {0};

	fly_behind(flyers, 1, FLIGHT_KEPT); /* the flyer looked, and asked again: it had missed */
	cr_expect_not(wait_for(&flight, flight_key));
	cr_expect_null(flight.seat);
}

Test(flight, one_after_the_other_takes_over_what_was_abandoned)
{
	struct flyer flyers[4] = {0};

	fly_behind(flyers, 4, FLIGHT_ABANDONED);
	for (int i = 0; i < 4; i++) {
		cr_expect_eq(flyers[i].looks, 1);
		cr_expect(flyers[i].seated);
	}
	cr_expect_eq(descriptors_open(), flight_fixture.descriptors);
}

Test(flight, who_takes_over_serves_the_others)
{
	struct flyer flyers[4] = {0};

	for (int i = 0; i < 4; i++) {
		flyers[i].outcome = FLIGHT_KEPT;
	}
	fly_behind(flyers, 4, FLIGHT_ABANDONED);
	cr_expect_eq(compiles, 1);
}

static void *fly_beside(void *context)
{
	struct flight flight = {0};

	(void)context;
	cr_expect(wait_for(&flight, other_key));
	cr_expect_not_null(flight.seat);
	flight_land(&flight, FLIGHT_KEPT);
	return NULL;
}

Test(flight, another_key_is_not_waited_for)
{
	struct flight flight = {0};
	pthread_t thread;

	cr_assert(wait_for(&flight, flight_key));
	pthread_create(&thread, NULL, fly_beside, NULL);
	pthread_join(thread, NULL);
	flight_land(&flight, FLIGHT_KEPT);
}

Test(flight, a_compile_inside_a_compile_waits_for_nobody)
{
	struct flight outer = {0};
	struct flight same = {0};
	struct flight other = {0};
	struct flight_file file;

	cr_assert(wait_for(&outer, flight_key));
	cr_expect_not(wait_for(&same, flight_key));
	cr_expect_null(same.seat);
	cr_assert_eq(flight_file_take(&flight_fixture.directory, other_key, flight_far(), false, ignore, NULL, &file),
	             FLIGHT_FILE_TAKEN);
	(void)wait_for(&other, other_key);
	cr_expect_not(wait_for(&other, other_key));
	flight_land(&other, FLIGHT_KEPT);
	flight_land(&same, FLIGHT_KEPT);
	flight_land(&outer, FLIGHT_KEPT);
	flight_file_land(&file, FLIGHT_FILE_ENDED_KEPT);
	cr_expect_eq(descriptors_open(), flight_fixture.descriptors);
}

Test(flight, with_no_time_to_wait_there_is_none)
{
	const struct flight_options options = {.directory = flight_fixture.path};
	struct flight flight = {0};

	cr_expect_not(flight_wait(&flight, &options, flight_key));
	cr_expect_null(flight.seat);
	cr_expect_eq(access(flight_fixture.path, F_OK), -1);
}

Test(flight, without_a_directory_of_its_own_only_threads_wait)
{
	struct flight_options options = {.directory = flight_fixture.path, .read_only = true, .wait_seconds = 100};

	for (int i = 0; i < 2; i++) {
		struct flight flight = {0};

		cr_expect(flight_wait(&flight, &options, flight_key));
		cr_expect_not_null(flight.seat);
		cr_expect_not(flight_wait(&flight, &options, flight_key));
		flight_land(&flight, FLIGHT_KEPT);
		options = (struct flight_options){.wait_seconds = 100};
	}
	cr_expect_eq(access(flight_fixture.path, F_OK), -1);
}

Test(flight, a_key_that_changed_meanwhile_is_given_back)
{
	struct flight flight = {0};
	struct flyer flyer = {0};

	cr_assert(wait_for(&flight, flight_key));
	start(&flyer);
	cr_expect_not(wait_for(&flight, other_key));
	cr_expect_null(flight.seat);
	pthread_join(flyer.thread, NULL);
	cr_expect(flyer.seated);
	cr_expect_not(wait_for(&flight, other_key));
}

/* Fork. */

static int exit_code(pid_t child)
{
	int status;

	return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void child_lands(bool handlers)
{
	struct flight flight = {0};
	struct flight again = {0};
	pid_t child;

	cr_assert(wait_for(&flight, flight_key));
	child = fork();
	if (child == 0) {
		alarm(60);
		if (handlers) {
			flight_fork_child();
		}
		if (handlers && descriptors_open() != flight_fixture.descriptors) {
			_exit(1); /* a descriptor of the parent's flight */
		}
		flight_land(&flight, FLIGHT_KEPT);
		if (descriptors_open() != flight_fixture.descriptors) {
			_exit(2);
		}
		(void)wait_for(&again, other_key);
		if (!again.seat) {
			_exit(3); /* flights of its own */
		}
		flight_land(&again, FLIGHT_KEPT);
		_exit(0);
	}
	cr_expect_eq(exit_code(child), 0);
	cr_expect_eq(seen_from_outside(flight_key), FLIGHT_FILE_GIVEN_UP, "the child unlocked it");
	flight_land(&flight, FLIGHT_KEPT);
	cr_expect_eq(seen_from_outside(flight_key), FLIGHT_FILE_TAKEN);
	cr_expect_eq(descriptors_open(), flight_fixture.descriptors);
}

Test(flight, a_child_forked_in_the_middle_has_flights_of_its_own)
{
	child_lands(true);
}

Test(flight, so_has_one_that_was_made_past_the_handlers)
{
	child_lands(false);
}

/* Everything at once: no flight is held twice, and all come to an end. */

enum { PROCESSES = 4, THREADS = 4, ROUNDS = 60, KEYS = 3 };

static bool storm_of_process(unsigned seed)
{
	for (int i = 0; i < ROUNDS; i++) {
		uint8_t key[ENTRY_KEY_BYTES] = {0};
		struct flight flight = {0};
		pid_t child = -1;

		seed = seed * 1103515245 + 12345;
		key[0] = (uint8_t)(seed >> 16) % KEYS;
		key[8] = key[0];
		key[9] = (uint8_t)(i % 8); /* keys that were not kept are left behind */
		while (wait_for(&flight, key)) {
		}
		if ((seed >> 20) % 16 == 0) {
			child = fork();
			if (child == 0) {
				flight_fork_child();
				alarm(120);
				flight_land(&flight, FLIGHT_KEPT);
				_exit(0);
			}
		}
		flight_land(&flight, (seed >> 24) % 4);
		if (child > 0 && exit_code(child) != 0) {
			return false;
		}
	}
	return true;
}

static void *storm_of_thread(void *seed)
{
	return storm_of_process((unsigned)(uintptr_t)seed) ? NULL : seed;
}

Test(flight, threads_and_processes_of_many_minds_come_to_an_end)
{
	pid_t children[PROCESSES];

	for (unsigned p = 0; p < PROCESSES; p++) {
		children[p] = fork();
		if (children[p] == 0) {
			pthread_t threads[THREADS];
			void *result = NULL;

			alarm(250);
			for (uintptr_t t = 0; t < THREADS; t++) {
				pthread_create(&threads[t], NULL, storm_of_thread, (void *)(p * 100 + t + 1));
			}
			for (int t = 0; t < THREADS && !result; t++) {
				pthread_join(threads[t], &result);
			}
			_exit(result ? 1 : descriptors_open() == flight_fixture.descriptors ? 0 : 2);
		}
	}
	for (int p = 0; p < PROCESSES; p++) {
		cr_expect_eq(exit_code(children[p]), 0);
	}
}

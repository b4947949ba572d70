/* SPDX-License-Identifier: MIT */
#include "interpose/compile/handle.h"
#include "tests/unit/support.h"

#include <malloc.h>

#pragma weak mallinfo2 /* since glibc 2.33 */

static void free_nothing(struct handle *handle)
{
}

static const struct compiler compiler = {.free_handle = free_nothing};
static struct library library = {.compiler = &compiler};

static struct handle *add(void *value, enum reach reach)
{
	return handle_add(sizeof(struct handle), value, &library, reach);
}

/* Returns addresses like those of malloc(). */
static void *value(size_t number)
{
	return (void *)(uintptr_t)(0x100000 + number * 48);
}

static void add_all(size_t count)
{
	for (size_t i = 0; i < count; i++) {
		cr_assert_not_null(add(value(i), REACH_THUNK));
	}
}

static bool is_there(size_t number)
{
	const struct handle *handle = handle_find(value(number));

	return handle && handle->value == value(number);
}

Test(handle, an_added_record_is_found_until_it_is_taken)
{
	add_all(10000);
	for (size_t i = 0; i < 10000; i++) {
		cr_assert(is_there(i), "%zu", i);
	}
	for (size_t i = 0; i < 10000; i += 2) {
		struct handle *handle = handle_take(value(i));

		cr_assert_eq(handle->value, value(i));
		handle_free(handle);
	}
	for (size_t i = 0; i < 10000; i++) {
		cr_assert_eq(is_there(i), i % 2 == 1, "%zu", i);
	}
	cr_expect_null(handle_take(value(0)));
	cr_expect_null(handle_find(NULL));
}

Test(handle, a_reused_handle_gets_a_new_record)
{
	struct handle *first = add(value(1), REACH_THUNK);
	struct handle *second;

	first->keyed = false;
	second = add(value(1), REACH_EXPORT);
	cr_expect(second->keyed && second->reach == REACH_EXPORT);
	cr_expect_eq(handle_find(value(1)), second);
	handle_free(handle_take(value(1)));
	cr_expect_null(handle_find(value(1)));
}

Test(handle, a_taken_record_can_be_put_back)
{
	struct handle *handle = add(value(1), REACH_THUNK);

	cr_assert_eq(handle_take(value(1)), handle);
	handle_put_back(handle);
	cr_expect_eq(handle_find(value(1)), handle);
}

Test(handle, creating_and_destroying_programs_does_not_leak_memory, .timeout = 120)
{
	size_t before = 0;

	skip_unless(mallinfo2, "no mallinfo2 here");
	for (size_t i = 0; i < 600000; i++) {
		if (i == 100000) {
			before = mallinfo2().uordblks;
		}
		cr_assert_not_null(add(value(i), REACH_THUNK));
		if (i >= 500) {
			handle_free(handle_take(value(i - 500)));
		}
	}
	cr_expect_leq(mallinfo2().uordblks, before + 64 * 1024, "%zu, then %zu", before, mallinfo2().uordblks);
}

enum { LASTING = 2000, THREADS = 3, SPAN = 3000 };
static atomic_bool stop;

static void *come_and_go(void *number)
{
	size_t first = LASTING + (uintptr_t)number * SPAN;

	while (!atomic_load(&stop)) {
		for (size_t i = first; i < first + SPAN; i++) {
			(void)add(value(i), REACH_THUNK);
		}
		for (size_t i = first; i < first + SPAN; i++) {
			handle_free(handle_take(value(i)));
		}
	}
	return NULL;
}

static void *look_for_lasting(void *missed)
{
	while (!atomic_load(&stop)) {
		for (size_t number = 0; number < LASTING; number++) {
			if (!is_there(number)) {
				atomic_fetch_add((atomic_int *)missed, 1);
			}
		}
	}
	return NULL;
}

/* Tables grow meanwhile, and neighbouring slots are freed and filled again. */
Test(handle, lasting_records_are_found_while_others_are_added_and_removed, .timeout = 300)
{
	pthread_t threads[THREADS], finder;
	atomic_int missed = 0;

	add_all(LASTING);
	cr_assert_eq(pthread_create(&finder, NULL, look_for_lasting, &missed), 0);
	start_threads(threads, THREADS, come_and_go);
	for (size_t i = 0; i < 2000000; i++) {
		cr_assert(is_there(i % LASTING), "%zu", i % LASTING);
	}
	atomic_store(&stop, true);
	join_threads(threads, THREADS);
	pthread_join(finder, NULL);
	cr_expect_eq(atomic_load(&missed), 0);
}

Test(handle, a_child_forked_during_changes_has_all_lasting_records, .timeout = 300)
{
	pthread_t threads[THREADS];

	add_all(LASTING);
	start_threads(threads, THREADS, come_and_go);
	for (int i = 0; i < 200; i++) {
		pid_t child = fork();

		if (child == 0) {
			alarm(300);
			handle_fork_child();
			for (size_t number = 0; number < LASTING; number++) {
				if (!is_there(number)) {
					_exit(1);
				}
			}
			for (size_t number = 0; number < 8; number++) {
				/* each shard's lock can be taken */
				(void)handle_take(value(LASTING + number));
			}
			_exit(0);
		}
		cr_assert_eq(exit_of(child), 0);
	}
	atomic_store(&stop, true);
	join_threads(threads, THREADS);
}

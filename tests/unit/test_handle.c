/* SPDX-License-Identifier: MIT */
#include "interpose/compile/handle.h"
#include "tests/unit/support.h"

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

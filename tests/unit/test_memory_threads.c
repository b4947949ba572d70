/* SPDX-License-Identifier: MIT */
#include "tests/unit/memory_fixture.h"

TestSuite(memory_threads, .fini = tear_down);

enum { THREADS = 8, ROUNDS = 3000, KEYS = 64 };
static atomic_bool stop;
static atomic_int wrong;

static bool holds_often(void *context, const void *dependencies, size_t size)
{
	return (++*(unsigned *)context & 3) != 0;
}

/* True in a thread that only looks up, because it may be unable to allocate. */
static bool only_gets;

static void *hammer(void *seed)
{
	uint64_t random = (uintptr_t)seed + 1;
	unsigned calls = 0;

	for (int i = 0; i < ROUNDS && !atomic_load(&stop); i++) {
		uint32_t low;
		struct entry *found;

		random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
		low = 1 + (uint32_t)(random >> 40) % KEYS;
		if (!only_gets && (random >> 33) % 4 == 0) {
			char text[4] = {(char)('a' + (random >> 50) % 20), '\0'};

			put(low, 0, low, (random >> 60) == 0 ? NULL : text, (random >> 35) % 4000);
			continue;
		}
		found = memory_get(memory, low, 0, holds_often, &calls);
		if (found != NULL && mark_of(found) != low) {
			atomic_fetch_add(&wrong, 1);
		}
		entry_unref(found);
	}
	return NULL;
}

Test(memory_threads, threads_get_only_entries_of_their_fingerprint, .timeout = 300)
{
	pthread_t threads[THREADS];

	open_memory(100000);
	start_threads(threads, THREADS, hammer);
	join_threads(threads, THREADS);
	cr_expect_eq(wrong, 0);
}

static void *hammer_until_stopped(void *seed)
{
	while (!atomic_load(&stop)) {
		hammer(seed);
	}
	return NULL;
}

Test(memory_threads, a_child_forked_while_threads_hold_locks_works, .timeout = 300)
{
	pthread_t threads[3];

	open_memory(100000);
#ifdef __SANITIZE_ADDRESS__
	/* its allocator has no fork handlers: a child may get a heap that another thread was changing */
	only_gets = true;
#endif
	for (uint32_t low = 1; low <= KEYS; low++) {
		put(low, 0, low, NULL, 500);
	}
	start_threads(threads, 3, hammer_until_stopped);
	for (int i = 0; i < 100; i++) {
		pid_t child = fork();

		if (child == 0) {
			alarm(300);
			memory_fork_child(memory);
			for (uint32_t low = 1; low <= KEYS; low++) {
				put(low, 0, low, NULL, 3000);
				if (get(low) != low) {
					_exit(1);
				}
			}
			_exit(0);
		}
		cr_assert_gt(child, 0);
		cr_assert_eq(exit_of(child), 0);
	}
	atomic_store(&stop, true);
	join_threads(threads, 3);
	cr_expect_eq(wrong, 0);
}

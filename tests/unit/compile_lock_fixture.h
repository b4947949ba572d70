/* SPDX-License-Identifier: MIT */
/*
 * compile_lock_fixture: a cache directory of its own for each test of compile locks, and threads that say when they
 * wait
 *
 * here.directory does not exist at first. A waiter is known to wait when its thread sleeps in the
 * kernel; that is looked at, not timed.
 */
#ifndef TESTS_COMPILE_LOCK_FIXTURE_H
#define TESTS_COMPILE_LOCK_FIXTURE_H

#include "cache/calls.h"
#include "cache/compile_lock_file.h"
#include "tests/unit/support.h"

static struct {
	char base[200];
	char path[220];
	char file[240]; /* <path>/v1/compile-lock */
	struct directory directory;
	int descriptors;
} here;

/* both keys have the same shard */
static const uint8_t compile_lock_key[ENTRY_KEY_BYTES] = {0xab, 0xcd, 1, 2, 3, 4, 5, 6, 7, 8, 9, [31] = 0x01};
static const uint8_t other_key[ENTRY_KEY_BYTES] = {0xab, 0xcd, 1, 102, 3, 4, 5, 106, 7, 8, 9, 1, [31] = 0x02};

/* Each test ends with this. */
static inline void expect_no_descriptor_left(void)
{
	cr_expect_eq(descriptors_open(), here.descriptors);
}

static inline void compile_lock_set_up(void)
{
	cr_assert(private_directory_make(here.base, sizeof(here.base), "compile-lock-test"));
	(void)snprintf(here.path, sizeof(here.path), "%s/cache", here.base);
	(void)snprintf(here.file, sizeof(here.file), "%s/v1/compile-lock", here.path);
	here.directory = (struct directory){.path = here.path};
	here.descriptors = descriptors_open();
}

static inline void compile_lock_tear_down(void)
{
	remove_tree(here.base);
}

static inline int64_t compile_lock_far(void)
{
	return call_clock_straight() + INT64_C(100000) * 1000000000;
}

/* Returns the state of the key as another process would see it. */
static inline enum compile_lock_file_state compile_lock_seen_from_outside(const uint8_t *key)
{
	struct compile_lock_file file = COMPILE_LOCK_FILE_CLOSED;
	enum compile_lock_file_state state = compile_lock_file_acquire(&file, &here.directory, key, 0);

	if (state == COMPILE_LOCK_FILE_TAKEN) {
		compile_lock_file_release(&file);
	}
	return state;
}

/* Returns true if the thread sleeps in the kernel. */
static inline bool compile_lock_sleeps(pid_t thread)
{
	char path[64], text[256] = "";
	int file;
	const char *end;

	(void)snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int)thread);
	file = open(path, O_RDONLY | O_CLOEXEC);
	if (file < 0) {
		return false;
	}
	(void)!read(file, text, sizeof(text) - 1);
	close(file);
	end = strrchr(text, ')');
	return end && end[2] == 'S';
}

static inline void compile_lock_until_sleeping(const _Atomic pid_t *thread)
{
	while (atomic_load(thread) == 0 || !compile_lock_sleeps(atomic_load(thread))) {
		sched_yield();
	}
}

#endif

/* SPDX-License-Identifier: MIT */
/*
 * A process's counts:
 *
 *     counted --flush: under the file's lock, file += counted - written--> written --more events--> counted
 *        \--the write fails: still counted, tried again after a second
 *        \--fork: the child starts from nothing
 *
 * One thread flushes at a time; another's flush finds the flag taken and leaves it to that one.
 */
#include "cache/counters.h"

#include "cache/counters_file.h"

#include <errno.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PERIOD_NS         INT64_C(1000000000)
#define LOCK_TRIES        5
#define LOCK_TRIES_FORCED 50
#define FLAG_TRIES        1000

static const struct {
	const char *name;
	enum counter_group group;
} counters[COUNTER_COUNT] = {
#define COUNTER_ROW(group, name) {#name, COUNTER_##group},
    COUNTERS(COUNTER_ROW)
#undef COUNTER_ROW
};

static _Atomic uint64_t counted[COUNTER_COUNT];
static _Atomic int64_t tried_ns; /* CLOCK_MONOTONIC_COARSE of the last write that was tried; 0: none yet */
static atomic_flag flushing = ATOMIC_FLAG_INIT;
static atomic_bool is_shared;
/* Both belong to the thread that has set `flushing`. */
static uint64_t written[COUNTER_COUNT];
static pid_t owner;

const char *counter_name(enum counter counter)
{
	return counters[counter].name;
}

enum counter_group counter_group(enum counter counter)
{
	return counters[counter].group;
}

uint64_t counters_here(enum counter counter)
{
	return atomic_load_explicit(&counted[counter], memory_order_relaxed);
}

void counters_add(enum counter counter, uint64_t amount)
{
	atomic_fetch_add_explicit(&counted[counter], amount, memory_order_relaxed);
}

void counters_share(bool shared)
{
	atomic_store_explicit(&is_shared, shared, memory_order_relaxed);
}

static struct directory directory_at(const char *path)
{
	return (struct directory){.path = (char *)path,
	                          .shared = atomic_load_explicit(&is_shared, memory_order_relaxed)};
}

static void forget(void)
{
	for (size_t i = 0; i < COUNTER_COUNT; i++) {
		atomic_store_explicit(&counted[i], 0, memory_order_relaxed);
		written[i] = 0;
	}
}

void counters_fork_child(void)
{
	forget();
	owner = getpid();
	atomic_store_explicit(&tried_ns, 0, memory_order_relaxed);
	atomic_flag_clear_explicit(&flushing, memory_order_release);
}

static bool take_flag(bool wait)
{
	for (int i = 0; atomic_flag_test_and_set_explicit(&flushing, memory_order_acquire); i++) {
		if (!wait || i == FLAG_TRIES)
			return false;
		sched_yield();
	}
	return true;
}

int counters_flush(const char *directory, bool read_only, bool force)
{
	uint64_t now[COUNTER_COUNT];
	uint64_t fresh[COUNTER_COUNT];
	struct timespec clock;
	int64_t now_ns;
	int64_t last_ns = atomic_load_explicit(&tried_ns, memory_order_relaxed);
	bool changed = false;
	int error = 0;

	if (read_only)
		return 0;
	clock_gettime(CLOCK_MONOTONIC_COARSE, &clock);
	now_ns = clock.tv_sec * PERIOD_NS + clock.tv_nsec;
	if (!force && last_ns != 0 && now_ns - last_ns < PERIOD_NS)
		return 0;
	if (directory == NULL)
		return -ENXIO;
	if (directory[0] != '/')
		return -EINVAL;
	if (!take_flag(force))
		return force ? -EAGAIN : 0;

	/* fork handlers do not run for _Fork, clone and vfork (glibc bug 17490): what is not ours is forgotten here */
	if (owner != getpid()) {
		if (owner != 0)
			forget();
		owner = getpid();
	}
	for (size_t i = 0; i < COUNTER_COUNT; i++) {
		now[i] = counters_here((enum counter)i);
		fresh[i] = now[i] - written[i];
		changed |= fresh[i] != 0;
	}
	if (changed) {
		struct directory where = directory_at(directory);

		atomic_store_explicit(&tried_ns, now_ns, memory_order_relaxed);
		error = counters_file_add(&where, (unsigned)owner, fresh, force ? LOCK_TRIES_FORCED : LOCK_TRIES);
		if (error == 0)
			memcpy(written, now, sizeof(written));
	}
	atomic_flag_clear_explicit(&flushing, memory_order_release);
	return error;
}

int counters_read(const char *directory, uint64_t ret_values[COUNTER_COUNT])
{
	struct directory where = directory_at(directory);
	uint64_t values[COUNTER_COUNT] = {0};
	int root;
	int error;

	if (directory == NULL)
		return -ENXIO;
	error = directory_open(&where, false, &root);
	if (error == 0) {
		for (unsigned i = 0; error == 0 && i < COUNTERS_FILES; i++)
			error = counters_file_read(&where, root, i, values);
		close(root);
	}
	if (error != 0 && error != -ENOENT)
		return error;
	memcpy(ret_values, values, sizeof(values));
	return 0;
}

int counters_zero(const char *directory)
{
	struct directory where = directory_at(directory);
	int root;
	int error;

	if (directory == NULL)
		return -ENXIO;
	error = directory_open(&where, false, &root);
	if (error != 0)
		return error == -ENOENT ? 0 : error;
	for (unsigned i = 0; i < COUNTERS_FILES; i++) {
		int removed = counters_file_remove(root, i);

		error = error != 0 ? error : removed;
	}
	close(root);
	return error;
}

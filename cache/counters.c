/* SPDX-License-Identifier: MIT */
/*
 * States of a count:
 *
 *     counted --flush: under the file's lock, file += counted - written--> written --more events--> counted
 *        \--the write fails: still counted, tried again after a second
 *        \--fork: the child starts from zero
 *
 * One thread flushes at a time. If another thread calls counters_flush() meanwhile, it sets `once_more`, and the first
 * thread flushes again.
 *
 * A worker may end without running our destructor (_exit, SIGTERM, the end of a pool), so counts must be written before
 * that. Each miss and each store is written at once, which costs little compared with a compilation. Each of the first
 * PROMPT_WRITES hits is written at once too, because a worker on a busy machine may need its first second for a few
 * hits. Then, until the process is a second old, counts are written once per tick of the coarse clock (1 to 10 ms), so
 * that a loop of hits in memory costs at most one write of some microseconds per tick. After that they are written once
 * a second.
 *
 * If the host has removed the directory since the first write, counts do not create it again (after chroot nothing
 * does: see directory_settle()). If there is nothing to write at exit, no system call is made, because a sandbox that
 * the host has entered meanwhile (seccomp) may kill a process for it.
 */
#include "cache/counters.h"

#include "cache/calls.h"
#include "cache/counters_file.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#define PERIOD_NS     INT64_C(1000000000)
#define FLAG_TRIES    1000
#define PROMPT_WRITES 256

static const struct {
	const char *name;
	enum counter_group group;
} counters[COUNTER_COUNT] = {
#define COUNTER_ROW(group, name) [COUNTER_##group##_##name] = {#name, COUNTER_##group},
    [COUNTER_NONE] = {"none", COUNTER_NOTHING}, COUNTERS(COUNTER_ROW)
#undef COUNTER_ROW
};

static _Atomic uint64_t counted[COUNTER_COUNT];
static _Atomic int64_t began_ns; /* CLOCK_MONOTONIC_COARSE of the first write that was tried; 0: none yet */
static _Atomic int64_t tried_ns; /* the same clock at the last write that was tried */
static _Atomic uint64_t tries;
static _Atomic uint64_t written_prompts; /* count_prompts() at the last write */
static atomic_bool failed;               /* the last write has failed */
static atomic_bool once_more;            /* another thread has found the flag set */
static atomic_flag flushing = ATOMIC_FLAG_INIT;
static atomic_bool is_shared;
/*
 * Only the thread that has set `flushing` uses these. They are atomics because helgrind does not know what a flag
 * guards.
 */
static _Atomic uint64_t written[COUNTER_COUNT];
static _Atomic pid_t owner;
static atomic_bool wrote; /* a write has succeeded, so the directory existed or was created */

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

/* Counts the reason in the group whose first reason is `disabled`. */
static void add_reason(enum counter_group of, enum counter reason, enum counter disabled, enum counter sum)
{
	const enum counter error = (enum counter)(disabled + (COUNTER_BYPASSED_failed - COUNTER_BYPASSED_disabled));

	if (counter_group(reason) == COUNTER_BYPASSED) {
		counters_add((enum counter)(disabled + (reason - COUNTER_BYPASSED_disabled)), 1);
	} else {
		counters_add(reason, 1);
		counters_add(error, 1);
	}
	counters_add(sum, 1);
	if (of != COUNTER_NOTHING) {
		counters_add(counter_share(of, sum), 1);
	}
}

void counters_not_kept(enum counter_group of, enum counter reason)
{
	add_reason(of, reason, COUNTER_NOT_KEPT_disabled, COUNTER_TOTAL_not_kept);
}

void counters_bypassed(enum counter_group of, enum counter reason)
{
	add_reason(of, reason, COUNTER_BYPASSED_disabled, COUNTER_TOTAL_bypassed);
}

void counters_share(void)
{
	atomic_store_explicit(&is_shared, true, memory_order_relaxed);
}

static uint64_t written_of(size_t counter)
{
	return atomic_load_explicit(&written[counter], memory_order_relaxed);
}

static void set_written(size_t counter, uint64_t value)
{
	atomic_store_explicit(&written[counter], value, memory_order_relaxed);
}

static struct directory directory_at(const char *path)
{
	return (struct directory){.path = (char *)path,
	                          .shared = atomic_load_explicit(&is_shared, memory_order_relaxed)};
}

static void forget_counts(void)
{
	for (size_t i = 0; i < COUNTER_COUNT; i++) {
		atomic_store_explicit(&counted[i], 0, memory_order_relaxed);
		set_written(i, 0);
	}
	atomic_store_explicit(&began_ns, 0, memory_order_relaxed);
	atomic_store_explicit(&tries, 0, memory_order_relaxed);
	atomic_store_explicit(&written_prompts, 0, memory_order_relaxed);
	atomic_store_explicit(&wrote, false, memory_order_relaxed);
}

/* Returns the sum of the counts that are written at once. */
static uint64_t count_prompts(void)
{
	return counters_here(COUNTER_TOTAL_misses) + counters_here(COUNTER_TOTAL_stores);
}

static int64_t coarse_clock(void)
{
	struct timespec clock = {0};

	call_clock(CLOCK_MONOTONIC_COARSE, &clock);
	return clock.tv_sec * PERIOD_NS + clock.tv_nsec;
}

static bool is_due(int64_t now_ns)
{
	int64_t first_ns = atomic_load_explicit(&began_ns, memory_order_relaxed);
	int64_t last_ns = atomic_load_explicit(&tried_ns, memory_order_relaxed);

	if (first_ns == 0 || now_ns - last_ns >= PERIOD_NS) {
		return true;
	}
	if (atomic_load_explicit(&failed, memory_order_relaxed)) {
		return false;
	}
	if (count_prompts() != atomic_load_explicit(&written_prompts, memory_order_relaxed)) {
		return true;
	}
	if (atomic_load_explicit(&tries, memory_order_relaxed) < PROMPT_WRITES) {
		return true;
	}
	return now_ns - first_ns < PERIOD_NS && now_ns != last_ns;
}

void counters_fork_child(void)
{
	forget_counts();
	atomic_store_explicit(&owner, call_getpid(), memory_order_relaxed);
	atomic_flag_clear_explicit(&flushing, memory_order_release);
}

/* Whether to wait for another thread that is writing. */
enum patience { PATIENCE_NONE, PATIENCE_SOME };

static bool take_flag(enum patience patience)
{
	for (int i = 0; atomic_flag_test_and_set_explicit(&flushing, memory_order_acquire); i++) {
		if (patience == PATIENCE_NONE || i == FLAG_TRIES) {
			return false;
		}
		call_yield();
	}
	return true;
}

/*
 * Drops counts that were inherited from another process, because atfork handlers do not run for _Fork, clone and vfork
 * (glibc bug 17490). Returns true if there were any.
 */
static bool drop_inherited(void)
{
	pid_t before = atomic_load_explicit(&owner, memory_order_relaxed);
	pid_t pid = call_getpid();
	bool inherited = before != 0 && before != pid;

	if (inherited) {
		forget_counts();
	}
	atomic_store_explicit(&owner, pid, memory_order_relaxed);
	return inherited;
}

/* Lists the counts that are not written yet. The caller has set `flushing`. */
static void collect_fresh(struct counters_amounts *ret_fresh)
{
	size_t count = 0;

	for (size_t i = 0; i < COUNTER_COUNT; i++) {
		uint64_t amount = counters_here((enum counter)i) - written_of(i);

		if (amount != 0) {
			ret_fresh->list[count++] = (struct counters_amount){(enum counter)i, amount};
		}
	}
	ret_fresh->count = count;
}

/* Writes the new counts. The caller has set `flushing`. */
static int write_fresh(const char *directory, enum counters_file_patience patience)
{
	struct directory where = directory_at(directory);
	struct counters_amounts fresh;
	uint64_t prompts_now;
	int64_t now_ns;
	int error;

	prompts_now = count_prompts();
	collect_fresh(&fresh);
	if (fresh.count == 0 || drop_inherited()) {
		return 0;
	}
	now_ns = coarse_clock();
	if (atomic_load_explicit(&began_ns, memory_order_relaxed) == 0) {
		atomic_store_explicit(&began_ns, now_ns, memory_order_relaxed);
	}
	atomic_store_explicit(&tried_ns, now_ns, memory_order_relaxed);
	atomic_fetch_add_explicit(&tries, 1, memory_order_relaxed);
	error = counters_file_add(
	    &where, (unsigned)atomic_load_explicit(&owner, memory_order_relaxed), &fresh, patience,
	    atomic_load_explicit(&wrote, memory_order_relaxed) ? COUNTERS_FILE_FIND : COUNTERS_FILE_MAKE);
	if (error == 0) {
		atomic_store_explicit(&wrote, true, memory_order_relaxed);
		for (size_t i = 0; i < fresh.count; i++) {
			size_t counter = fresh.list[i].counter;

			set_written(counter, written_of(counter) + fresh.list[i].amount);
		}
		atomic_store_explicit(&written_prompts, prompts_now, memory_order_relaxed);
	}
	atomic_store_explicit(&failed, error != 0 && error != -EAGAIN, memory_order_relaxed);
	return error;
}

int counters_flush(const char *directory, enum counters_access access, enum counters_when when)
{
	bool now = when == COUNTERS_NOW;
	bool prompt;
	int error;

	if (access == COUNTERS_READ_ONLY || (!now && !is_due(coarse_clock()))) {
		return 0;
	}
	if (directory == NULL) {
		return -ENXIO;
	}
	if (directory[0] != '/') {
		return -EINVAL;
	}
	if (!take_flag(now ? PATIENCE_SOME : PATIENCE_NONE)) {
		atomic_store(&once_more, true);
		return now ? -EAGAIN : 0;
	}
	prompt = now || count_prompts() != atomic_load_explicit(&written_prompts, memory_order_relaxed);
	do {
		atomic_store(&once_more, false);
		error = write_fresh(directory, prompt ? COUNTERS_FILE_WAIT : COUNTERS_FILE_GIVE_UP);
		atomic_flag_clear_explicit(&flushing, memory_order_release);
	} while (error == 0 && atomic_load(&once_more) && take_flag(PATIENCE_NONE));
	return error;
}

int counters_read(const char *directory, uint64_t ret_values[COUNTER_COUNT], int64_t *ret_since)
{
	struct directory where = directory_at(directory);
	uint64_t values[COUNTER_COUNT] = {0};
	int64_t since = 0;
	int error;

	if (directory == NULL) {
		return -ENXIO;
	}
	error = counters_file_read(&where, values, &since);
	if (error != 0) {
		return error;
	}
	memcpy(ret_values, values, sizeof(values));
	if (ret_since) {
		*ret_since = since;
	}
	return 0;
}

int counters_zero(const char *directory)
{
	static const struct counters_amounts nothing;
	struct directory where = directory_at(directory);
	int error = directory == NULL ? -ENXIO : counters_file_remove(&where);

	if (error == 0) { /* begins a file without counts, so that counting begins now and not with the next count */
		(void)counters_file_add(&where, 0, &nothing, COUNTERS_FILE_WAIT, COUNTERS_FILE_FIND);
	}
	return error;
}

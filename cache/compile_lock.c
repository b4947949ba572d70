/* SPDX-License-Identifier: MIT */
#include "cache/compile_lock.h"

#include "cache/calls.h"
#include "cache/compile_lock_file.h"
#include "cache/fork_mutex.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Before glibc 2.34 it is in libpthread. A process without libpthread has one thread, so no thread ever waits. */
#pragma weak pthread_condattr_setclock

#define SHARDS      16
#define NO_WAITS    8
#define NO_WAIT_FOR (INT64_C(60) * 1000000000)
#define LOOK        INT64_C(1000000000) /* longest sleep: a child forked in a signal handler meanwhile is not woken */
#define ROUNDS_MAX  3                   /* holders in other processes that one compilation waits for, in sequence */

struct seat {
	_Atomic(struct seat *) next; /* in the table */
	uint8_t key[ENTRY_KEY_BYTES];
	unsigned users; /* the holder and the waiters */
	bool over;
	enum compile_lock_outcome outcome;
	pthread_cond_t changed;
	struct compile_lock_file file; /* changed under the shard's lock */
};

/* A key for which no thread waits before that time. */
struct no_wait {
	uint64_t tag;
	int64_t until;
};

static struct shard {
	_Alignas(64) struct fork_mutex lock;
	_Atomic(struct seat *) seats; /* consistent after each store, because forked children walk the list */
	struct no_wait no_waits[NO_WAITS];
	unsigned next_no_wait;
} shards[SHARDS] = {[0 ... SHARDS - 1] = {.lock = FORK_MUTEX_INITIALIZER}};

static _Thread_local unsigned held;
static _Atomic int64_t wasted; /* ns of useless waits for other processes since the last useful one */
static _Atomic pid_t process;

/* The first byte of a key names its shard in the store; the second one is independent of that. */
static struct shard *shard_of(const uint8_t *key)
{
	return &shards[key[1] % SHARDS];
}

static uint64_t tag_of(const uint8_t *key)
{
	uint64_t tag;

	memcpy(&tag, key + 2, sizeof(tag));
	return tag;
}

/*
 * A child of _Fork or clone inherits the locks, and no atfork handler runs (glibc bug 17490), so it is detected here.
 */
static void settle_process(void)
{
	pid_t pid = getpid();
	pid_t before = atomic_load_explicit(&process, memory_order_relaxed);

	if (before != 0 && before != pid) {
		compile_lock_fork_child();
	}
	atomic_store_explicit(&process, pid, memory_order_relaxed);
}

/* The condition uses the monotonic clock, because a change of the time of day must not lengthen a wait. */
static struct seat *seat_new(const uint8_t *key)
{
	struct seat *seat = calloc(1, sizeof(*seat));
	pthread_condattr_t attributes;

	if (!seat) {
		return NULL;
	}
	memcpy(seat->key, key, sizeof(seat->key));
	seat->users = 1;
	seat->file.fd = -1;
	(void)pthread_condattr_init(&attributes);
	if (pthread_condattr_setclock) {
		(void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	}
	(void)pthread_cond_init(&seat->changed, &attributes);
	(void)pthread_condattr_destroy(&attributes);
	return seat;
}

static void seat_free(struct seat *seat)
{
	if (seat) {
		(void)pthread_cond_destroy(&seat->changed);
		free(seat);
	}
}

/* The caller of the functions from here to wait_for_seat() holds the shard's lock, except for condition_time(). */
static bool nobody_waits(const struct shard *shard, const uint8_t *key)
{
	uint64_t tag = tag_of(key);
	int64_t now = call_clock_straight();

	for (size_t i = 0; i < NO_WAITS; i++) {
		if (shard->no_waits[i].tag == tag && now < shard->no_waits[i].until) {
			return true;
		}
	}
	return false;
}

/* Overwrites the oldest of the shard's few records, because forgetting a key only costs a wait. */
static void add_no_wait(struct shard *shard, const uint8_t *key)
{
	if (!nobody_waits(shard, key)) {
		shard->no_waits[shard->next_no_wait++ % NO_WAITS] =
		    (struct no_wait){.tag = tag_of(key), .until = call_clock_straight() + NO_WAIT_FOR};
	}
}

/* A linear search: the lists are short, because a seat exists only while its key is compiled. */
static struct seat *find_seat(const struct shard *shard, const uint8_t *key)
{
	struct seat *seat = shard->seats;

	while (seat && memcmp(seat->key, key, sizeof(seat->key)) != 0) {
		seat = seat->next;
	}
	return seat;
}

/*
 * Returns the absolute time for pthread_cond_timedwait(). libfaketime wraps that function and clock_gettime() alike, so
 * the time must not come from the kernel directly.
 */
static struct timespec condition_time(int64_t from_now)
{
	struct timespec time = {0};

	(void)clock_gettime(CLOCK_MONOTONIC, &time);
	from_now += time.tv_nsec;
	return (struct timespec){.tv_sec = time.tv_sec + from_now / 1000000000, .tv_nsec = from_now % 1000000000};
}

/*
 * Waits for the holder of the seat and returns its outcome, or COMPILE_LOCK_NOT_KEPT after the deadline. If *ret_last,
 * the caller has to free the seat.
 */
static enum compile_lock_outcome wait_for_seat(struct shard *shard, struct seat *seat, int64_t deadline, bool *ret_last)
{
	int64_t now = call_clock_straight();

	seat->users++;
	while (!seat->over && now < deadline) {
		struct timespec until = condition_time(deadline - now < LOOK ? deadline - now : LOOK);

		(void)fork_mutex_wait(&shard->lock, &seat->changed, &until);
		now = call_clock_straight();
	}
	*ret_last = --seat->users == 0;
	return seat->over ? seat->outcome : COMPILE_LOCK_NOT_KEPT;
}

/*
 * Takes the seat of a key, or waits for the thread that has it. Returns COMPILE_LOCK_ABANDONED if the seat was taken,
 * otherwise the outcome of the other thread; COMPILE_LOCK_NOT_KEPT also if there is nothing to wait for. The new seat
 * is allocated before the lock is taken, because malloc() must not run under a lock that a fork may leave held.
 */
static enum compile_lock_outcome take_seat(struct compile_lock *lock)
{
	struct shard *shard = shard_of(lock->key);
	struct seat *fresh = seat_new(lock->key);
	enum compile_lock_outcome outcome = COMPILE_LOCK_ABANDONED;
	struct seat *seat = NULL;
	bool last = false;

	if (!fresh) {
		return COMPILE_LOCK_NOT_KEPT;
	}
	fork_mutex_lock(&shard->lock);
	if (nobody_waits(shard, lock->key)) {
		outcome = COMPILE_LOCK_NOT_KEPT;
	}
	while (outcome == COMPILE_LOCK_ABANDONED && (seat = find_seat(shard, lock->key))) {
		if (held > 0) {
			outcome = COMPILE_LOCK_NOT_KEPT;
			break;
		}
		lock->waited = true;
		outcome = wait_for_seat(shard, seat, lock->deadline, &last);
		if (last) {
			seat_free(seat);
		}
	}
	if (outcome == COMPILE_LOCK_ABANDONED) {
		fresh->next = shard->seats;
		shard->seats = fresh;
		lock->seat = fresh;
		fresh = NULL;
	}
	fork_mutex_unlock(&shard->lock);
	seat_free(fresh);
	return outcome;
}

/*
 * Called if a result that another thread cached did not serve this caller, because further waits would be useless too.
 */
static void stop_waiting_for(const uint8_t *key)
{
	struct shard *shard = shard_of(key);

	fork_mutex_lock(&shard->lock);
	add_no_wait(shard, key);
	fork_mutex_unlock(&shard->lock);
}

/* Copies the descriptor to the seat in the table at every change, so that a child forked at any moment can close it. */
static void note_file(void *context, const struct compile_lock_file *file)
{
	struct seat *seat = context;
	struct shard *shard = shard_of(seat->key);

	fork_mutex_lock(&shard->lock);
	seat->file = *file;
	fork_mutex_unlock(&shard->lock);
}

/* Called with a seat. Takes the file lock, or waits for the process that has it. Returns true to look up again. */
static bool wait_for_processes(struct compile_lock *lock, const struct compile_lock_options *options)
{
	const struct directory directory = {.path = (char *)options->directory, .shared = options->shared};
	struct compile_lock_file file = {.fd = -1};
	enum compile_lock_file_state state = COMPILE_LOCK_FILE_NONE;

	int64_t start = call_clock_straight();
	int64_t deadline = lock->deadline - atomic_load_explicit(&wasted, memory_order_relaxed);

	lock->state = COMPILE_LOCK_SETTLED;
	if (options->directory && !options->read_only) {
		state = compile_lock_file_acquire(&directory, lock->key, deadline,
		                                  held == 1 && start < deadline ? COMPILE_LOCK_FILE_WAIT
		                                                                : COMPILE_LOCK_FILE_TRY,
		                                  note_file, lock->seat, &file);
	}
	if (state == COMPILE_LOCK_FILE_GIVEN_UP) {
		atomic_fetch_add_explicit(&wasted, call_clock_straight() - start, memory_order_relaxed);
	} else if (state == COMPILE_LOCK_FILE_KEPT) {
		atomic_store_explicit(&wasted, 0, memory_order_relaxed);
		lock->spent = call_clock_straight() - start;
	}
	lock->waited |= state != COMPILE_LOCK_FILE_TAKEN && state != COMPILE_LOCK_FILE_NONE;
	switch (state) {
	case COMPILE_LOCK_FILE_TAKEN:
		note_file(lock->seat, &file);
		break;
	case COMPILE_LOCK_FILE_NOT_KEPT:
		compile_lock_release(lock, COMPILE_LOCK_NOT_KEPT);
		return false;
	case COMPILE_LOCK_FILE_OVER:
		if (++lock->rounds < ROUNDS_MAX) {
			lock->state = COMPILE_LOCK_SEATED;
		}
		break;
	case COMPILE_LOCK_FILE_KEPT:
	case COMPILE_LOCK_FILE_GIVEN_UP:
	case COMPILE_LOCK_FILE_NONE:
		break;
	}
	return true;
}

/*
 * Returns whether the key has changed since the last call: headers that it depends on may change while a caller waits.
 */
static bool lost_key(const struct compile_lock *lock, const uint8_t *key)
{
	return lock->state != COMPILE_LOCK_NEW && memcmp(lock->key, key, sizeof(lock->key)) != 0;
}

bool compile_lock_acquire(struct compile_lock *lock, const struct compile_lock_options *options,
                          const uint8_t key[ENTRY_KEY_BYTES])
{
	enum compile_lock_outcome outcome;

	if (options->wait_seconds == 0) {
		return false;
	}
	if (lost_key(lock, key)) {
		compile_lock_release(lock, COMPILE_LOCK_ABANDONED);
		lock->state = COMPILE_LOCK_SETTLED;
		return false;
	}
	if (lock->state == COMPILE_LOCK_SETTLED) {
		if (lock->hopeful) {
			stop_waiting_for(key);
		}
		return false;
	}
	settle_process();
	if (lock->state == COMPILE_LOCK_NEW) {
		memcpy(lock->key, key, sizeof(lock->key));
		lock->deadline = call_clock_straight() + (int64_t)options->wait_seconds * 1000000000;
		outcome = take_seat(lock);
		if (outcome != COMPILE_LOCK_ABANDONED) {
			lock->state = COMPILE_LOCK_SETTLED;
			lock->hopeful = outcome != COMPILE_LOCK_NOT_KEPT;
			return lock->hopeful;
		}
		lock->owner = getpid();
		held++;
	}
	return wait_for_processes(lock, options);
}

/* Unlinks the seat by one store, so that the list is consistent whenever another thread forks. */
static void leave_table(struct shard *shard, struct seat *seat)
{
	_Atomic(struct seat *) *link = &shard->seats;

	while (*link && *link != seat) {
		link = &(*link)->next;
	}
	if (*link) {
		*link = seat->next;
	}
}

/* Releases the file lock first, because a thread of this process that is woken may lock the file at once. */
void compile_lock_release(struct compile_lock *lock, enum compile_lock_outcome outcome)
{
	struct seat *seat = lock->seat;
	struct shard *shard;
	struct compile_lock_file file;
	bool last;

	if (!seat) {
		return;
	}
	lock->seat = NULL;
	held--;
	if (lock->owner != getpid()) {
		compile_lock_file_forget(&seat->file);
		return;
	}
	shard = shard_of(seat->key);
	file = seat->file;
	compile_lock_file_release(&file, outcome == COMPILE_LOCK_KEPT        ? COMPILE_LOCK_FILE_ENDED_KEPT
	                                 : outcome == COMPILE_LOCK_ABANDONED ? COMPILE_LOCK_FILE_ENDED_WITHOUT
	                                                                     : COMPILE_LOCK_FILE_ENDED_NOT_KEPT);
	fork_mutex_lock(&shard->lock);
	leave_table(shard, seat);
	if (outcome == COMPILE_LOCK_NOT_KEPT) {
		add_no_wait(shard, seat->key);
	}
	seat->over = true;
	seat->outcome = outcome;
	last = --seat->users == 0;
	if (!last) {
		(void)pthread_cond_broadcast(&seat->changed);
	}
	fork_mutex_unlock(&shard->lock);
	if (last) {
		seat_free(seat);
	}
}

/* Does not free the seats, because the thread that forked may be compiling, and then releases its seat in the child. */
void compile_lock_fork_child(void)
{
	for (size_t i = 0; i < SHARDS; i++) {
		for (struct seat *seat = shards[i].seats; seat; seat = seat->next) {
			compile_lock_file_forget(&seat->file);
			seat->over = true;
			seat->outcome = COMPILE_LOCK_ABANDONED;
		}
		shards[i].seats = NULL;
		(void)fork_mutex_fork_child(&shards[i].lock);
	}
	atomic_store_explicit(&process, getpid(), memory_order_relaxed);
}

/* SPDX-License-Identifier: MIT */
#include "cache/flight.h"

#include "cache/flight_file.h"
#include "cache/guard.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SHARDS     16
#define MARKS      8
#define MARKED_FOR (INT64_C(60) * 1000000000)
#define LOOK       INT64_C(1000000000) /* a child that was forked in a signal handler meanwhile is woken by nobody */
#define ROUNDS_MAX 3                   /* flights of other processes that one compile waits for, one after the other */

struct seat {
	_Atomic(struct seat *) next; /* in the table */
	uint8_t key[ENTRY_KEY_BYTES];
	unsigned users; /* the holder and who waits */
	bool over;
	enum flight_outcome outcome;
	pthread_cond_t changed;
	struct flight_file file; /* changed under the shard's lock */
};

struct mark {
	uint64_t tag;
	int64_t until;
};

static struct shard {
	_Alignas(64) struct guard lock;
	_Atomic(struct seat *) seats; /* whole after each store: children close what hangs on them */
	struct mark marks[MARKS];     /* keys that nobody waits for */
	unsigned next_mark;
} shards[SHARDS] = {[0 ... SHARDS - 1] = {.lock = GUARD_INITIALIZER}};

static _Thread_local unsigned held;
static _Atomic int64_t wasted; /* what this process has waited for others in vain, since it last did so with profit */
static _Atomic pid_t process;

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

/* A child of _Fork or clone gets the locks as they were, and no handler runs (BZ 17490). */
static void settle_process(void)
{
	pid_t pid = getpid();
	pid_t before = atomic_load_explicit(&process, memory_order_relaxed);

	if (before != 0 && before != pid) {
		flight_fork_child();
	}
	atomic_store_explicit(&process, pid, memory_order_relaxed);
}

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
	(void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
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

/* From here to take_seat(): the shard's lock is held. */
static bool is_marked(const struct shard *shard, const uint8_t *key)
{
	uint64_t tag = tag_of(key);
	int64_t now = flight_clock();

	for (size_t i = 0; i < MARKS; i++) {
		if (shard->marks[i].tag == tag && now < shard->marks[i].until) {
			return true;
		}
	}
	return false;
}

static void add_mark(struct shard *shard, const uint8_t *key)
{
	if (!is_marked(shard, key)) {
		shard->marks[shard->next_mark++ % MARKS] =
		    (struct mark){.tag = tag_of(key), .until = flight_clock() + MARKED_FOR};
	}
}

static struct seat *find_seat(const struct shard *shard, const uint8_t *key)
{
	struct seat *seat = shard->seats;

	while (seat && memcmp(seat->key, key, sizeof(seat->key)) != 0) {
		seat = seat->next;
	}
	return seat;
}

/* In the time of pthread_cond_timedwait(), before which libfaketime stands as it does before this clock. */
static struct timespec condition_time(int64_t from_now)
{
	struct timespec time = {0};

	(void)clock_gettime(CLOCK_MONOTONIC, &time);
	from_now += time.tv_nsec;
	return (struct timespec){.tv_sec = time.tv_sec + from_now / 1000000000, .tv_nsec = from_now % 1000000000};
}

/* How the flight of that seat ended; FLIGHT_NOT_KEPT when it did not in time. The seat is the waiter's to free if it
 * was the last. */
static enum flight_outcome wait_for_seat(struct shard *shard, struct seat *seat, int64_t deadline, bool *ret_last)
{
	int64_t now = flight_clock();

	seat->users++;
	while (!seat->over && now < deadline) {
		struct timespec until = condition_time(deadline - now < LOOK ? deadline - now : LOOK);

		(void)guard_wait(&shard->lock, &seat->changed, &until);
		now = flight_clock();
	}
	*ret_last = --seat->users == 0;
	return seat->over ? seat->outcome : FLIGHT_NOT_KEPT;
}

/* FLIGHT_ABANDONED: the seat is ours. Otherwise how another's flight ended; FLIGHT_NOT_KEPT: nothing to wait for. */
static enum flight_outcome take_seat(struct flight *flight)
{
	struct shard *shard = shard_of(flight->key);
	struct seat *fresh = seat_new(flight->key);
	enum flight_outcome outcome = FLIGHT_ABANDONED;
	struct seat *seat = NULL;
	bool last = false;

	if (!fresh) {
		return FLIGHT_NOT_KEPT;
	}
	guard_lock(&shard->lock);
	if (is_marked(shard, flight->key)) {
		outcome = FLIGHT_NOT_KEPT;
	}
	while (outcome == FLIGHT_ABANDONED && (seat = find_seat(shard, flight->key))) {
		if (held > 0) {
			outcome = FLIGHT_NOT_KEPT;
			break;
		}
		outcome = wait_for_seat(shard, seat, flight->deadline, &last);
		if (last) {
			seat_free(seat);
		}
	}
	if (outcome == FLIGHT_ABANDONED) {
		fresh->next = shard->seats;
		shard->seats = fresh;
		flight->seat = fresh;
		fresh = NULL;
	}
	guard_unlock(&shard->lock);
	seat_free(fresh);
	return outcome;
}

static void mark(const uint8_t *key)
{
	struct shard *shard = shard_of(key);

	guard_lock(&shard->lock);
	add_mark(shard, key);
	guard_unlock(&shard->lock);
}

static void note_file(void *context, const struct flight_file *file)
{
	struct seat *seat = context;
	struct shard *shard = shard_of(seat->key);

	guard_lock(&shard->lock);
	seat->file = *file;
	guard_unlock(&shard->lock);
}

/* The seat is ours; now the other processes. True: look again. */
static bool wait_for_processes(struct flight *flight, const struct flight_options *options)
{
	const struct directory directory = {.path = (char *)options->directory, .shared = options->shared};
	struct flight_file file = {.fd = -1};
	enum flight_file_state state = FLIGHT_FILE_NONE;

	int64_t start = flight_clock();
	int64_t deadline = flight->deadline - atomic_load_explicit(&wasted, memory_order_relaxed);

	flight->state = FLIGHT_SETTLED;
	if (options->directory && !options->read_only) {
		state = flight_file_take(&directory, flight->key, deadline, held == 1 && start < deadline, note_file,
		                         flight->seat, &file);
	}
	if (state == FLIGHT_FILE_GIVEN_UP) {
		atomic_fetch_add_explicit(&wasted, flight_clock() - start, memory_order_relaxed);
	} else if (state == FLIGHT_FILE_KEPT) {
		atomic_store_explicit(&wasted, 0, memory_order_relaxed);
	}
	switch (state) {
	case FLIGHT_FILE_TAKEN:
		note_file(flight->seat, &file);
		break;
	case FLIGHT_FILE_NOT_KEPT:
		flight_land(flight, FLIGHT_NOT_KEPT);
		return false;
	case FLIGHT_FILE_OVER:
		if (++flight->rounds < ROUNDS_MAX) {
			flight->state = FLIGHT_SEATED;
		}
		break;
	case FLIGHT_FILE_KEPT:
	case FLIGHT_FILE_GIVEN_UP:
	case FLIGHT_FILE_NONE:
		break;
	}
	return true;
}

/* Ours is another key by now: what the compile depends on changed while we waited. */
static bool lost_key(const struct flight *flight, const uint8_t *key)
{
	return flight->state != FLIGHT_NEW && memcmp(flight->key, key, sizeof(flight->key)) != 0;
}

bool flight_wait(struct flight *flight, const struct flight_options *options, const uint8_t key[ENTRY_KEY_BYTES])
{
	enum flight_outcome outcome;

	if (options->wait_seconds == 0) {
		return false;
	}
	if (lost_key(flight, key)) {
		flight_land(flight, FLIGHT_ABANDONED);
		flight->state = FLIGHT_SETTLED;
		return false;
	}
	if (flight->state == FLIGHT_SETTLED) {
		if (flight->hopeful) {
			mark(key);
		}
		return false;
	}
	settle_process();
	if (flight->state == FLIGHT_NEW) {
		memcpy(flight->key, key, sizeof(flight->key));
		flight->deadline = flight_clock() + (int64_t)options->wait_seconds * 1000000000;
		outcome = take_seat(flight);
		if (outcome != FLIGHT_ABANDONED) {
			flight->state = FLIGHT_SETTLED;
			flight->hopeful = outcome != FLIGHT_NOT_KEPT;
			return flight->hopeful;
		}
		flight->owner = getpid();
		held++;
	}
	return wait_for_processes(flight, options);
}

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

void flight_land(struct flight *flight, enum flight_outcome outcome)
{
	static const enum flight_file_outcome elsewhere[] = {
	    [FLIGHT_ABANDONED] = FLIGHT_FILE_ENDED_WITHOUT,
	    [FLIGHT_NOT_KEPT] = FLIGHT_FILE_ENDED_NOT_KEPT,
	    [FLIGHT_KEPT_HERE] = FLIGHT_FILE_ENDED_NOT_KEPT,
	    [FLIGHT_KEPT] = FLIGHT_FILE_ENDED_KEPT,
	};
	struct seat *seat = flight->seat;
	struct shard *shard;
	struct flight_file file;
	bool last;

	if (!seat) {
		return;
	}
	flight->seat = NULL;
	held--;
	if (flight->owner != getpid()) {
		flight_file_forget(&seat->file);
		return;
	}
	shard = shard_of(seat->key);
	file = seat->file;
	flight_file_land(&file, elsewhere[outcome]);
	guard_lock(&shard->lock);
	leave_table(shard, seat);
	if (outcome == FLIGHT_NOT_KEPT) {
		add_mark(shard, seat->key);
	}
	seat->over = true;
	seat->outcome = outcome;
	last = --seat->users == 0;
	if (!last) {
		(void)pthread_cond_broadcast(&seat->changed);
	}
	guard_unlock(&shard->lock);
	if (last) {
		seat_free(seat);
	}
}

/* The seats' memory stays: the thread that forked may be in the middle of a compile, and land its own. */
void flight_fork_child(void)
{
	for (size_t i = 0; i < SHARDS; i++) {
		for (struct seat *seat = shards[i].seats; seat; seat = seat->next) {
			flight_file_forget(&seat->file);
			seat->over = true;
			seat->outcome = FLIGHT_ABANDONED;
		}
		shards[i].seats = NULL;
		(void)guard_fork_child(&shards[i].lock);
	}
	atomic_store_explicit(&process, getpid(), memory_order_relaxed);
}

/* SPDX-License-Identifier: MIT */
#include "cache/compile_lock.h"

#include "cache/calls.h"
#include "cache/compile_lock_file.h"
#include "cache/fork_mutex.h"
#include "cache/holder.h"

#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define PLACES      64
#define NO_WAIT_FOR (INT64_C(60) * 1000000000)
#define LOOK        INT64_C(500000000) /* longest sleep: the holder is examined, and a child may have been forked */
#define ROUNDS_MAX  2                  /* holders in other processes that one compilation waits for, in sequence */

/* What this process knows of a key that a thread compiles, or that no thread waits for. All of it is zero at first. */
struct place {
	uint8_t key[ENTRY_KEY_BYTES];
	enum { PLACE_FREE, PLACE_HELD, PLACE_OVER } state;
	enum compile_lock_outcome outcome; /* PLACE_OVER */
	unsigned waiters;                  /* a place that has any is not used for another key */
	int64_t holder;                    /* PLACE_HELD: cache/holder.h */
	int64_t no_waits_until;            /* until then no thread waits for the key */
	struct compile_lock_file file;     /* changed by the holder only */
};

static struct {
	struct fork_mutex lock;
	atomic_uint changes; /* a futex: how often a place was released */
	struct place places[PLACES];
} table = {.lock = FORK_MUTEX_INITIALIZER, .places = {[0 ... PLACES - 1] = {.file = COMPILE_LOCK_FILE_CLOSED}}};

static _Thread_local unsigned held;
static _Atomic int64_t wasted; /* ns of waits for other processes that were given up since the last useful one */
static _Atomic pid_t process;

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

/* The caller of the functions from here to wait_for_place() holds the table's lock. */

/* Finds the place of a key that is being compiled, or that no thread waits for. */
static struct place *find_place(const uint8_t *key)
{
	int64_t now = call_clock_straight();

	for (struct place *place = table.places; place < table.places + PLACES; place++) {
		if ((place->state == PLACE_HELD || now < place->no_waits_until) &&
		    memcmp(place->key, key, sizeof(place->key)) == 0) {
			return place;
		}
	}
	return NULL;
}

/* Finds a place that is not in use. Forgetting that no thread waits for a key costs a wait; the oldest one goes. */
static struct place *choose_place(void)
{
	struct place *best = NULL;

	for (struct place *place = table.places; place < table.places + PLACES; place++) {
		if (place->state != PLACE_HELD && place->waiters == 0 &&
		    (!best || place->no_waits_until < best->no_waits_until)) {
			best = place;
		}
	}
	return best;
}

/* A change between the load and the call wakes at once. The time is relative: libfaketime's clock may stand still. */
static void sleep_until_change(int64_t left)
{
	const struct timespec most = {.tv_nsec = left < LOOK ? left : LOOK};
	unsigned seen = atomic_load_explicit(&table.changes, memory_order_relaxed);

	fork_mutex_unlock(&table.lock);
	(void)syscall(SYS_futex, &table.changes, FUTEX_WAIT_PRIVATE, seen, &most, NULL, 0);
}

/*
 * Waits for the holder of the place and returns its outcome, or COMPILE_LOCK_NOT_KEPT after the deadline or if the
 * holder rests. A child that a signal handler forked meanwhile has no waiters.
 */
static enum compile_lock_outcome wait_for_place(const struct compile_lock *lock, struct place *place)
{
	struct holder_watch watch = {0};
	int64_t holder = place->holder;
	int64_t now = call_clock_straight();
	bool rests = false;

	place->waiters++;
	while (place->state == PLACE_HELD && now < lock->deadline && !rests) {
		sleep_until_change(lock->deadline - now);
		rests = holder_rests(&watch, holder);
		now = call_clock_straight();
		fork_mutex_lock(&table.lock);
	}
	if (lock->owner == getpid()) {
		place->waiters--;
	}
	return place->state == PLACE_HELD ? COMPILE_LOCK_NOT_KEPT : place->outcome;
}

/*
 * Takes a place for the key, or waits for the thread that has it. Returns COMPILE_LOCK_ABANDONED if the place was
 * taken, otherwise the outcome of the other thread; COMPILE_LOCK_NOT_KEPT also if there is nothing to wait for.
 */
static enum compile_lock_outcome take_place(struct compile_lock *lock)
{
	enum compile_lock_outcome outcome = COMPILE_LOCK_ABANDONED;
	struct place *place;

	fork_mutex_lock(&table.lock);
	while (outcome == COMPILE_LOCK_ABANDONED && (place = find_place(lock->key))) {
		lock->waited |= place->state == PLACE_HELD && held == 0;
		outcome = place->state == PLACE_HELD && held == 0 ? wait_for_place(lock, place) : COMPILE_LOCK_NOT_KEPT;
	}
	if (outcome == COMPILE_LOCK_ABANDONED) {
		place = choose_place();
		if (place) {
			memcpy(place->key, lock->key, sizeof(place->key));
			place->holder = holder_code();
			place->no_waits_until = 0;
			place->state = PLACE_HELD;
		}
		lock->place = place;
		outcome = place ? COMPILE_LOCK_ABANDONED : COMPILE_LOCK_NOT_KEPT;
	}
	fork_mutex_unlock(&table.lock);
	return outcome;
}

/*
 * Called if a result that another thread cached did not serve this caller, because further waits would be useless too.
 */
static void stop_waiting_for(const uint8_t *key)
{
	struct place *place;

	fork_mutex_lock(&table.lock);
	place = find_place(key) ? NULL : choose_place();
	if (place) {
		memcpy(place->key, key, sizeof(place->key));
		place->state = PLACE_FREE;
		place->no_waits_until = call_clock_straight() + NO_WAIT_FOR;
	}
	fork_mutex_unlock(&table.lock);
}

/* Called with a place. Takes the file lock, or waits for the process that has it. Returns true to look up again. */
static bool wait_for_processes(struct compile_lock *lock, const struct compile_lock_options *options)
{
	const struct directory directory = {.path = (char *)options->directory, .shared = options->shared};
	enum compile_lock_file_state state = COMPILE_LOCK_FILE_NONE;
	int64_t start = call_clock_straight();
	int64_t deadline = lock->deadline - atomic_load_explicit(&wasted, memory_order_relaxed);
	enum compile_lock_file_patience patience =
	    held == 1 && start < deadline ? COMPILE_LOCK_FILE_WAIT : COMPILE_LOCK_FILE_TRY;

	lock->state = COMPILE_LOCK_HELD;
	if (options->directory && !options->read_only) {
		state = compile_lock_file_acquire(&lock->place->file, &directory, lock->key, deadline, patience);
	}
	switch (state) {
	case COMPILE_LOCK_FILE_NOT_KEPT:
		compile_lock_release(lock, COMPILE_LOCK_NOT_KEPT);
		return false;
	case COMPILE_LOCK_FILE_ENDED:
		lock->waited = true;
		lock->spent += call_clock_straight() - start;
		if (++lock->rounds < ROUNDS_MAX) {
			lock->state = COMPILE_LOCK_QUEUED;
		}
		break;
	case COMPILE_LOCK_FILE_GIVEN_UP:
		lock->waited = true;
		atomic_fetch_add_explicit(&wasted, call_clock_straight() - start, memory_order_relaxed);
		break;
	case COMPILE_LOCK_FILE_TAKEN:
	case COMPILE_LOCK_FILE_NONE:
		break;
	}
	return true;
}

/* Called after the first miss. */
static bool begin_waiting(struct compile_lock *lock, const struct compile_lock_options *options)
{
	enum compile_lock_outcome outcome;

	lock->owner = getpid();
	lock->deadline = call_clock_straight() + (int64_t)options->wait_seconds * 1000000000;
	outcome = take_place(lock);
	if (outcome != COMPILE_LOCK_ABANDONED) {
		lock->state = outcome == COMPILE_LOCK_NOT_KEPT ? COMPILE_LOCK_UNLOCKED : COMPILE_LOCK_AWAITED;
		return lock->state == COMPILE_LOCK_AWAITED;
	}
	lock->owner = getpid();
	held++;
	return wait_for_processes(lock, options);
}

bool compile_lock_acquire(struct compile_lock *lock, const struct compile_lock_options *options,
                          const uint8_t key[ENTRY_KEY_BYTES])
{
	if (options->wait_seconds == 0) {
		return false;
	}
	/* headers that the key depends on may change while a caller waits */
	if (lock->state != COMPILE_LOCK_NEW && memcmp(lock->key, key, sizeof(lock->key)) != 0) {
		compile_lock_release(lock, COMPILE_LOCK_ABANDONED);
		return false;
	}
	settle_process();
	switch (lock->state) {
	case COMPILE_LOCK_NEW:
		memcpy(lock->key, key, sizeof(lock->key));
		return begin_waiting(lock, options);
	case COMPILE_LOCK_QUEUED:
		return wait_for_processes(lock, options);
	case COMPILE_LOCK_AWAITED:
		lock->state = COMPILE_LOCK_UNLOCKED;
		stop_waiting_for(key);
		return false;
	case COMPILE_LOCK_HELD:
	case COMPILE_LOCK_UNLOCKED:
		break;
	}
	return false;
}

/* Releases the file lock first, because a thread of this process that is woken may lock the file at once. */
void compile_lock_release(struct compile_lock *lock, enum compile_lock_outcome outcome)
{
	struct place *place = lock->place;

	if (!place) {
		return;
	}
	settle_process();
	if (lock->state == COMPILE_LOCK_QUEUED && outcome == COMPILE_LOCK_KEPT) {
		atomic_store_explicit(&wasted, 0, memory_order_relaxed);
	}
	lock->place = NULL;
	lock->state = COMPILE_LOCK_UNLOCKED;
	held--;
	if (lock->owner != getpid()) {
		return;
	}
	if (outcome == COMPILE_LOCK_NOT_KEPT || outcome == COMPILE_LOCK_KEPT_HERE) {
		compile_lock_file_note(&place->file);
	}
	compile_lock_file_release(&place->file);
	fork_mutex_lock(&table.lock);
	place->no_waits_until = outcome == COMPILE_LOCK_NOT_KEPT ? call_clock_straight() + NO_WAIT_FOR : 0;
	place->outcome = outcome;
	place->state = PLACE_OVER;
	atomic_fetch_add_explicit(&table.changes, 1, memory_order_relaxed);
	fork_mutex_unlock(&table.lock);
	(void)syscall(SYS_futex, &table.changes, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

/* A thread that forked while it waited finds its place free, and then takes one of its own. */
void compile_lock_fork_child(void)
{
	(void)fork_mutex_fork_child(&table.lock);
	for (struct place *place = table.places; place < table.places + PLACES; place++) {
		compile_lock_file_forget(&place->file);
		place->outcome = COMPILE_LOCK_ABANDONED;
		place->state = PLACE_FREE;
		place->waiters = 0;
	}
	atomic_store_explicit(&process, getpid(), memory_order_relaxed);
}

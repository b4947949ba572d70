/* SPDX-License-Identifier: MIT */
#include "cache/compile_lock.h"

#include "cache/calls.h"
#include "cache/compile_lock_file.h"
#include "cache/fork_mutex.h"

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

/* What this process knows of a key that a thread compiles, or that no thread waits for. All of it is zero at first. */
struct place {
	uint8_t key[ENTRY_KEY_BYTES];
	bool held;
	enum compile_lock_outcome outcome; /* of the last holder */
	int64_t holder;                    /* holder_code() */
	int64_t no_waits_until;            /* until then no thread waits for the key */
	struct compile_lock_file file;     /* changed by the holder only */
};

static struct {
	struct fork_mutex lock;
	atomic_uint changes; /* a futex: how often a place was released */
	struct place places[PLACES];
} table = {.lock = FORK_MUTEX_INITIALIZER, .places = {[0 ... PLACES - 1] = {.file = COMPILE_LOCK_FILE_CLOSED}}};

static _Thread_local unsigned held;
static _Atomic pid_t process;

/*
 * A child of _Fork or clone inherits the locks, and no atfork handler runs (glibc bug 17490), so it is detected here.
 */
static void settle_process(void)
{
	const pid_t before = atomic_exchange_explicit(&process, getpid(), memory_order_relaxed);

	if (before != 0 && before != getpid()) {
		compile_lock_fork_child();
	}
}

/* The caller of the functions from here to wait_for_place() holds the table's lock. */

/*
 * Returns the place of the key. If it has none, one that is not in use becomes its place: forgetting that no thread
 * waits for a key costs a wait, and the oldest one goes. NULL: all are in use.
 */
static struct place *assign_place(const uint8_t *key)
{
	struct place *best = NULL;

	for (struct place *place = table.places; place < table.places + PLACES; place++) {
		if (memcmp(place->key, key, sizeof(place->key)) == 0) {
			return place;
		}
		if (!place->held && (!best || place->no_waits_until < best->no_waits_until)) {
			best = place;
		}
	}
	if (best) {
		memcpy(best->key, key, sizeof(best->key));
		best->no_waits_until = 0;
	}
	return best;
}

/*
 * Waits for the holder of the place and returns its outcome, or COMPILE_LOCK_NOT_KEPT after the deadline or if the
 * holder rests. A change between the load and the system call wakes at once. The time is relative: libfaketime's clock
 * may stand still.
 */
static enum compile_lock_outcome wait_for_place(const struct compile_lock *lock, struct place *place)
{
	struct holder_watch watch = {0};
	bool rests = false;

	while (memcmp(place->key, lock->key, sizeof(place->key)) == 0) {
		const int64_t left = lock->deadline - call_clock_straight();
		const struct timespec most = {.tv_nsec = left < LOOK ? left : LOOK};
		const int64_t holder = place->holder;
		unsigned seen = atomic_load_explicit(&table.changes, memory_order_relaxed);

		if (!place->held || left <= 0 || rests) {
			return place->held ? COMPILE_LOCK_NOT_KEPT : place->outcome;
		}
		fork_mutex_unlock(&table.lock);
		(void)syscall(SYS_futex, &table.changes, FUTEX_WAIT_PRIVATE, seen, &most, NULL, 0);
		rests = holder_rests(&watch, holder);
		fork_mutex_lock(&table.lock);
	}
	return COMPILE_LOCK_ABANDONED; /* the place is another key's now */
}

/*
 * Takes a place for the key, or waits for the thread that has it. Returns COMPILE_LOCK_ABANDONED if the place was
 * taken, otherwise the outcome of the other thread; COMPILE_LOCK_NOT_KEPT also if there is nothing to wait for.
 */
static enum compile_lock_outcome take_or_await_place(struct compile_lock *lock)
{
	enum compile_lock_outcome outcome = COMPILE_LOCK_ABANDONED;
	struct place *place;

	fork_mutex_lock(&table.lock);
	while ((place = assign_place(lock->key)) && place->held && held == 0 && outcome == COMPILE_LOCK_ABANDONED) {
		lock->waited = true;
		outcome = wait_for_place(lock, place);
	}
	if (!place || place->held || call_clock_straight() < place->no_waits_until) {
		outcome = outcome == COMPILE_LOCK_ABANDONED ? COMPILE_LOCK_NOT_KEPT : outcome;
	} else if (outcome == COMPILE_LOCK_ABANDONED) {
		place->holder = holder_code();
		place->held = true;
		lock->place = place;
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
	place = assign_place(key);
	if (place && !place->held) {
		place->no_waits_until = call_clock_straight() + NO_WAIT_FOR;
	}
	fork_mutex_unlock(&table.lock);
}

/*
 * Called with a place. Takes the file lock, or waits for the process that has it. Returns true to look up again. A
 * caller waits for two holders in other processes, one after the other; QUEUED, it has waited for the first.
 */
static bool wait_for_processes(struct compile_lock *lock, const struct directory *directory)
{
	const bool is_queued = lock->state == COMPILE_LOCK_QUEUED;
	const int64_t start = call_clock_straight();
	enum compile_lock_file_state state = COMPILE_LOCK_FILE_NONE;

	lock->state = COMPILE_LOCK_SETTLED;
	if (directory && directory->path) {
		state =
		    compile_lock_file_acquire(&lock->place->file, directory, lock->key, held == 1 ? lock->deadline : 0);
	}
	lock->waited |= state == COMPILE_LOCK_FILE_ENDED || state == COMPILE_LOCK_FILE_GIVEN_UP;
	if (state == COMPILE_LOCK_FILE_ENDED) {
		lock->spent += call_clock_straight() - start;
		lock->state = is_queued ? COMPILE_LOCK_SETTLED : COMPILE_LOCK_QUEUED;
	} else if (state == COMPILE_LOCK_FILE_NOT_KEPT) {
		compile_lock_release(lock, COMPILE_LOCK_NOT_KEPT);
	}
	return state != COMPILE_LOCK_FILE_NOT_KEPT;
}

/* Called after the first miss. */
static bool begin_waiting(struct compile_lock *lock, const struct directory *directory)
{
	enum compile_lock_outcome outcome = take_or_await_place(lock);

	lock->owner = getpid(); /* a signal handler may have forked while this thread waited */
	if (lock->place) {
		held++;
		return wait_for_processes(lock, directory);
	}
	lock->state = outcome == COMPILE_LOCK_NOT_KEPT ? COMPILE_LOCK_SETTLED : COMPILE_LOCK_AWAITED;
	return lock->state == COMPILE_LOCK_AWAITED;
}

bool compile_lock_acquire(struct compile_lock *lock, const struct directory *directory, unsigned wait_seconds,
                          const uint8_t key[ENTRY_KEY_BYTES])
{
	if (wait_seconds == 0) {
		return false;
	}
	/* headers that the key depends on may change while a caller waits */
	if (lock->state != COMPILE_LOCK_NEW && memcmp(lock->key, key, sizeof(lock->key)) != 0) {
		compile_lock_release(lock, COMPILE_LOCK_ABANDONED);
		return false;
	}
	settle_process();
	if (lock->state == COMPILE_LOCK_NEW) {
		memcpy(lock->key, key, sizeof(lock->key));
		lock->deadline = call_clock_straight() + (int64_t)wait_seconds * 1000000000;
		return begin_waiting(lock, directory);
	}
	if (lock->state == COMPILE_LOCK_QUEUED) {
		return wait_for_processes(lock, directory);
	}
	if (lock->state == COMPILE_LOCK_AWAITED) {
		stop_waiting_for(key);
	}
	lock->state = COMPILE_LOCK_SETTLED;
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
	lock->place = NULL;
	lock->state = COMPILE_LOCK_SETTLED;
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
	place->held = false;
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
		place->held = false;
	}
	atomic_store_explicit(&process, getpid(), memory_order_relaxed);
}

/* SPDX-License-Identifier: MIT */
/*
 * guard: a lock of which a forked child can tell who had it
 *
 *     free --lock--> held by a thread --unlock--> free
 *       |                |-- forked by that thread (from a signal handler): still held, the thread will unlock it
 *       |                `-- forked by another: free again in the child, and what it guards may be half done
 *       `-- forked: free
 *
 * Purpose: no fork handler of ours takes a lock before a fork. Ours run first, as they are registered last; a handler
 * of the host that then waits for a thread that compiles would wait for ever if that thread waited for a lock of ours,
 * and so would one that itself compiles. So each child looks at what it was given, and whoever keeps something under a
 * guard has it whole after each single store, or gives it up in the child.
 *
 * A child's memory is that of one moment: it has all stores of a thread up to one of them, in the order that fences
 * give them (dup_mmap() write-protects, flushes and only then lets faults go on).
 *
 * Calling sequence: guard_lock(), guard_unlock(), guard_wait() for a condition; guard_fork_child() in the child, by the
 * thread that forked. Statically GUARD_INITIALIZER, otherwise guard_init(). Errors: none. Signals: not from handlers.
 */
#ifndef CACHE_GUARD_H
#define CACHE_GUARD_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>

struct guard {
	pthread_mutex_t mutex;
	_Atomic(pthread_t) holder; /* 0: none; written under the mutex */
};

#define GUARD_INITIALIZER                          \
	{                                          \
		.mutex = PTHREAD_MUTEX_INITIALIZER \
	}

static inline void guard_init(struct guard *guard)
{
	pthread_mutex_init(&guard->mutex, NULL);
	atomic_init(&guard->holder, 0);
}

static inline void guard_destroy(struct guard *guard)
{
	pthread_mutex_destroy(&guard->mutex);
}

/* The holder is there before anything is stored under the lock, and until everything is. */
static inline void guard_taken(struct guard *guard)
{
#ifdef __SANITIZE_THREAD__ /* gcc's has no fences, and says so (-Wtsan) */
	atomic_exchange(&guard->holder, pthread_self());
#else
	atomic_store_explicit(&guard->holder, pthread_self(), memory_order_relaxed);
	atomic_thread_fence(memory_order_release);
#endif
}

static inline void guard_leave(struct guard *guard)
{
	atomic_store_explicit(&guard->holder, 0, memory_order_release);
}

static inline void guard_lock(struct guard *guard)
{
	pthread_mutex_lock(&guard->mutex);
	guard_taken(guard);
}

static inline void guard_unlock(struct guard *guard)
{
	guard_leave(guard);
	pthread_mutex_unlock(&guard->mutex);
}

/* pthread_cond_timedwait() */
static inline int guard_wait(struct guard *guard, pthread_cond_t *condition, const struct timespec *until)
{
	int error;

	guard_leave(guard);
	error = pthread_cond_timedwait(condition, &guard->mutex, until);
	guard_taken(guard);
	return error;
}

/* In a child: the lock can be had again. False: somebody who is not here was in the middle of something. */
static inline bool guard_fork_child(struct guard *guard)
{
	pthread_t holder = atomic_load_explicit(&guard->holder, memory_order_acquire);

	if (holder != 0 && pthread_equal(holder, pthread_self())) {
		return true;
	}
	atomic_store_explicit(&guard->holder, 0, memory_order_relaxed);
	pthread_mutex_init(&guard->mutex, NULL);
	return holder == 0;
}

#endif

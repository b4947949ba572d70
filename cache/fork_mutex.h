/* SPDX-License-Identifier: MIT */
/*
 * fork_mutex: a mutex of which a forked child can tell who had it
 *
 *     free --lock--> held by a thread --unlock--> free
 *       |                |-- forked by that thread (from a signal handler): still held, the thread will unlock it
 *       |                `-- forked by another: free again in the child, and what it guards may be half done
 *       `-- forked: free
 *
 * Purpose: no fork handler of ours takes a lock before a fork. Ours run first, as they are registered last; a handler
 * of the host that then waits for a thread that compiles would wait for ever if that thread waited for a lock of ours,
 * and so would one that itself compiles. So each child looks at what it was given, and whoever keeps something under
 * one has it whole after each single store, or gives it up in the child.
 *
 * A child's memory is that of one moment: it has all stores of a thread up to one of them, in the order that fences
 * give them (dup_mmap() write-protects, flushes and only then lets faults go on).
 *
 * Calling sequence: fork_mutex_lock(), fork_mutex_unlock(), fork_mutex_wait() for a condition; fork_mutex_fork_child()
 * in the child, by the thread that forked. Statically FORK_MUTEX_INITIALIZER, otherwise fork_mutex_init(). Errors:
 * none. Signals: not from handlers.
 */
#ifndef CACHE_FORK_MUTEX_H
#define CACHE_FORK_MUTEX_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>

struct fork_mutex {
	pthread_mutex_t mutex;
	_Atomic(pthread_t) holder; /* 0: none; written under the mutex */
};

#define FORK_MUTEX_INITIALIZER {.mutex = PTHREAD_MUTEX_INITIALIZER}

static inline void fork_mutex_init(struct fork_mutex *lock)
{
	pthread_mutex_init(&lock->mutex, NULL);
	atomic_init(&lock->holder, 0);
}

static inline void fork_mutex_destroy(struct fork_mutex *lock)
{
	pthread_mutex_destroy(&lock->mutex);
}

/* The holder is there before anything is stored under the lock, and until everything is. */
static inline void fork_mutex_taken(struct fork_mutex *lock)
{
#ifdef __SANITIZE_THREAD__ /* gcc's has no fences, and says so (-Wtsan) */
	atomic_exchange(&lock->holder, pthread_self());
#else
	atomic_store_explicit(&lock->holder, pthread_self(), memory_order_relaxed);
	atomic_thread_fence(memory_order_release);
#endif
}

static inline void fork_mutex_leave(struct fork_mutex *lock)
{
	atomic_store_explicit(&lock->holder, 0, memory_order_release);
}

static inline void fork_mutex_lock(struct fork_mutex *lock)
{
	pthread_mutex_lock(&lock->mutex);
	fork_mutex_taken(lock);
}

static inline void fork_mutex_unlock(struct fork_mutex *lock)
{
	fork_mutex_leave(lock);
	pthread_mutex_unlock(&lock->mutex);
}

/* pthread_cond_timedwait() */
static inline int fork_mutex_wait(struct fork_mutex *lock, pthread_cond_t *condition, const struct timespec *until)
{
	int error;

	fork_mutex_leave(lock);
	error = pthread_cond_timedwait(condition, &lock->mutex, until);
	fork_mutex_taken(lock);
	return error;
}

/* In a child: the lock can be had again. False: somebody who is not here was in the middle of something. */
static inline bool fork_mutex_fork_child(struct fork_mutex *lock)
{
	pthread_t holder = atomic_load_explicit(&lock->holder, memory_order_acquire);

	if (holder != 0 && pthread_equal(holder, pthread_self())) {
		return true;
	}
	atomic_store_explicit(&lock->holder, 0, memory_order_relaxed);
	pthread_mutex_init(&lock->mutex, NULL);
	return holder == 0;
}

#endif

/* SPDX-License-Identifier: MIT */
/*
 * fork_mutex: a mutex that a child process can recover after fork()
 *
 *     free --lock--> held by a thread --unlock--> free
 *       |                |-- that thread forks (in a signal handler): still held in the child, which unlocks it
 *       |                `-- another thread forks: free in the child, but the data may be half changed
 *       `-- fork: free
 *
 * Purpose: our atfork handlers take no lock before a fork. They run first, because they are registered last. If a
 * handler of the host then waits for a thread that compiles, and that thread waits for our lock, both would wait
 * forever. Instead the child examines the lock. Data under such a lock must be consistent after each single store, or
 * the child must discard it.
 *
 * A child's memory is a snapshot of one moment: for each other thread, it contains the stores up to some point, in the
 * order that fences enforce (dup_mmap() write-protects and flushes before any fault continues).
 *
 * Calling sequence: fork_mutex_lock(), fork_mutex_unlock(); fork_mutex_fork_child() in the child, by the thread that
 * forked. It is initialised by FORK_MUTEX_INITIALIZER.
 * Errors: none. Signals: not from handlers.
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

/* The holder is stored before any data is changed under the lock, and reset after the last change. */
static inline void fork_mutex_taken(struct fork_mutex *lock)
{
#ifdef __SANITIZE_THREAD__ /* gcc's ThreadSanitizer does not support fences and warns about them (-Wtsan) */
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

/*
 * Makes the lock usable in a child. Returns false if another thread, which does not exist in the child, held it: the
 * data may be half changed. If the thread that forked holds the lock, it stays locked.
 */
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

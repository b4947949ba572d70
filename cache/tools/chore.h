/* SPDX-License-Identifier: MIT */
/*
 * chore: progress, interruption and parallelism of long work on the directory
 *
 * Purpose: the work reports its progress to the caller's `tell` and asks `stopped` whether to continue. Work that can
 * be done for each shard separately goes through `each`, if the caller gives one. (On many file systems a process that
 * removes files waits for the disk: sixteen threads are then sixteen times as fast.) This folder starts no threads
 * itself, because it is also linked into programs of others.
 *
 * Calling sequence: one chore for each call of the store; every field may be 0. The working thread calls `tell` after
 * each step, or `each` does. All threads ask `stopped`; what is done by then stays done. Threads: all count in `done`.
 */
#ifndef CACHE_TOOLS_CHORE_H
#define CACHE_TOOLS_CHORE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum chore_phase { CHORE_LOOKING, CHORE_WORKING };
enum chore_sum { CHORE_KNOWN, CHORE_GUESSED };

typedef void chore_work(void *context, unsigned number);

struct chore {
	enum chore_phase phase;
	_Atomic uint64_t done; /* files */
	uint64_t whole;        /* 0: nobody knows */
	enum chore_sum sum;    /* of `whole` */
	void (*tell)(struct chore *chore);
	bool (*stopped)(void);
	/* work(context, i) for each i below `count`, in any order; returns when all is done */
	void (*each)(struct chore *chore, unsigned count, chore_work *work, void *context);
	void *teller; /* tell's own */
};

static inline void chore_begin(struct chore *chore, enum chore_phase phase, uint64_t whole, enum chore_sum sum)
{
	if (chore) {
		chore->phase = phase;
		chore->whole = whole;
		chore->sum = sum;
		atomic_store_explicit(&chore->done, 0, memory_order_relaxed);
	}
}

static inline void chore_add(struct chore *chore, uint64_t files)
{
	if (chore) {
		atomic_fetch_add_explicit(&chore->done, files, memory_order_relaxed);
	}
}

static inline void chore_tell(struct chore *chore)
{
	if (chore && chore->tell) {
		chore->tell(chore);
	}
}

static inline bool chore_stopped(const struct chore *chore)
{
	return chore && chore->stopped && chore->stopped();
}

static inline void chore_each(struct chore *chore, unsigned count, chore_work *work, void *context)
{
	if (chore && chore->each) {
		chore->each(chore, count, work, context);
		return;
	}
	for (unsigned i = 0; i < count; i++) {
		work(context, i);
		chore_tell(chore);
	}
}

#endif

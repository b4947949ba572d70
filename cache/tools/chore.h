/* SPDX-License-Identifier: MIT */
/*
 * chore: long work that people wait for, as whoever shows it to them sees it
 *
 * Purpose: the work says how far it is and asks whether to go on; what can be done for each shard at once it hands to
 * `each`, if that is there. (Many file systems make whoever removes a file wait, and not the processor: then sixteen
 * threads are sixteen times as fast as one.) This folder starts no threads itself: it lies in processes of others too.
 *
 * Calling sequence: an own chore for each call of the store; all may be left 0. `tell` is called by the thread that
 * works, after each step, or by `each`. `stopped` is asked by all of them: what is done by then stays done.
 * Threads: `done` is counted by all.
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

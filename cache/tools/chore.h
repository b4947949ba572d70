/* SPDX-License-Identifier: MIT */
/*
 * chore: long work that people wait for, as the code that shows its progress sees it
 *
 * Purpose: the work reports how far it is and asks whether to go on.
 *
 * Calling sequence: a chore for each call of the store; all members may be left 0. The work calls `tell` after each
 * step, and `stopped` before it: what is done by then stays done. Threads: one.
 */
#ifndef CACHE_TOOLS_CHORE_H
#define CACHE_TOOLS_CHORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum chore_phase { CHORE_LOOKING, CHORE_WORKING };
enum chore_sum { CHORE_KNOWN, CHORE_GUESSED };

typedef void chore_work(void *context, unsigned number);

struct chore {
	enum chore_phase phase;
	uint64_t done;      /* files */
	uint64_t whole;     /* 0: not known */
	uint64_t guess;     /* of `whole`, from the share of chore_each() that is done */
	enum chore_sum sum; /* of `whole` */
	void (*tell)(struct chore *chore);
	bool (*stopped)(void);
};

static inline void chore_begin(struct chore *chore, enum chore_phase phase, uint64_t whole, enum chore_sum sum)
{
	if (chore) {
		chore->phase = phase;
		chore->whole = whole;
		chore->sum = sum;
		chore->done = chore->guess = 0;
	}
}

static inline void chore_add(struct chore *chore, uint64_t files)
{
	if (chore) {
		chore->done += files;
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

/* work(context, i) for each i below `count`. */
static inline void chore_each(struct chore *chore, unsigned count, chore_work *work, void *context)
{
	for (unsigned i = 0; i < count; i++) {
		work(context, i);
		if (chore) {
			chore->guess = chore->done * count / (i + 1);
		}
		chore_tell(chore);
	}
}

#endif

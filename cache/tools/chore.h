/* SPDX-License-Identifier: MIT */
/*
 * chore: progress and interruption of long work, for the code that shows a progress bar
 *
 * Purpose: the work reports its progress and asks whether it should continue.
 *
 * Calling sequence: the caller passes a chore to each call that takes one; all members may be 0. The work calls
 * `stopped` before each step and `tell` after it. Work that is stopped does not undo the steps that are done. Threads:
 * one.
 */
#ifndef CACHE_TOOLS_CHORE_H
#define CACHE_TOOLS_CHORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum chore_phase { CHORE_LOOKING, CHORE_WORKING };
enum chore_sum { CHORE_KNOWN, CHORE_GUESSED };

struct chore {
	enum chore_phase phase;
	uint64_t done;      /* number of files processed */
	uint64_t whole;     /* number of all files; 0: not known */
	uint64_t guess;     /* an estimate of `whole`, from the part that is done */
	enum chore_sum sum; /* whether `whole` is exact */
	void (*tell)(struct chore *chore);
	bool (*stopped)(void); /* true: the work should end */
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

/* Tells the progress after `part` of `parts` equal parts. */
static inline void chore_advance(struct chore *chore, size_t part, size_t parts)
{
	if (chore) {
		chore->guess = chore->done * parts / part;
	}
	chore_tell(chore);
}

#endif

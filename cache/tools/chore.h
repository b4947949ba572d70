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

struct chore {
	const char *doing; /* "pruning" */
	uint64_t done;     /* number of files processed */
	uint64_t whole;    /* about how many there are; 0: not known */
	void (*tell)(struct chore *chore);
	bool (*stopped)(void); /* true: the work should end */
};

static inline void chore_begin(struct chore *chore, const char *doing)
{
	if (chore) {
		chore->doing = doing;
		chore->whole = chore->done = 0;
	}
}

/* Tells the progress after some more files of `part` of `parts` equal parts. Keys are digests, so shards are equal. */
static inline void chore_advance(struct chore *chore, uint64_t files, size_t part, size_t parts)
{
	if (chore) {
		chore->done += files;
		chore->whole = chore->done * parts / part;
		if (chore->tell) {
			chore->tell(chore);
		}
	}
}

static inline bool chore_stopped(const struct chore *chore)
{
	return chore && chore->stopped && chore->stopped();
}

#endif

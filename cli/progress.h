/* SPDX-License-Identifier: MIT */
/*
 * progress: how far a long command is, in one line on standard error, and only where that is a terminal
 *
 * Calling sequence: progress_begin(), progress_show() as often as one likes (it writes ten times a second at most),
 * progress_end() before anything else is printed: it wipes the line.
 * Threads: one.
 */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
	bool shown;      /* is there a terminal? */
	bool dirty;      /* is there a line to wipe? */
	int64_t last_ns; /* when it was written */
	const char *doing;
};

void progress_begin(struct progress *progress, const char *doing);
/* `whole` 0: not known. */
void progress_show(struct progress *progress, uint64_t done, uint64_t whole);
void progress_end(struct progress *progress);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * progress: how far a long command is, in one line on standard error, and only where that is a terminal
 *
 *     pruning  [#######.....]  81,204 of 200,000 results  41,000/s  3 s left
 *
 * It is as wide as the window is at that moment; what does not fit is left out: first the rate, then the bar. Plain
 * counts where the terminal knows no escape sequences (cli/console/terminal.h).
 *
 * Calling sequence: progress_begin(), progress_show() as often as one likes (it writes ten times a second at most),
 * progress_end(). The line is wiped before console_error() prints anything; before anything else is printed
 * terminal_wipe() or progress_end() does it. A signal that ends the command wipes it too (cli/console/interrupt.h).
 * Threads: one.
 */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
	const char *doing;
	int64_t drawn_ns; /* when a line was drawn last; 0: never */
	struct progress_mark {
		int64_t ns;
		uint64_t done;
	} marks[2]; /* some seconds ago, and later: the rate is that since the first */
};

void progress_begin(struct progress *progress, const char *doing);
/* `whole` 0: not known. */
void progress_show(struct progress *progress, uint64_t done, uint64_t whole);
/* `about`: as many as there seem to be. */
void progress_guess(struct progress *progress, uint64_t done, uint64_t about);
void progress_end(struct progress *progress);

/* For people who ask how long something took. */
int64_t progress_clock(void);

#endif

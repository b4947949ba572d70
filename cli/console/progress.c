/* SPDX-License-Identifier: MIT */
#include "cli/console/progress.h"

#include "cli/console/console.h"

#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#define PERIOD_NS  INT64_C(100000000)
#define LINE_BYTES 80

/* ---- signals ---- */

static const int numbers[] = {SIGHUP, SIGINT, SIGTERM};
static volatile sig_atomic_t holding, seen;

/* If a handler calls this function, the raised signal is blocked and takes effect when the handler returns. */
static void end_by(int number)
{
	(void)signal(number, SIG_DFL);
	(void)raise(number);
}

static void note_signal(int number)
{
	if (holding && seen == 0) {
		seen = number;
	} else {
		end_by(number);
	}
}

void interrupt_hold(void)
{
	/* without SA_RESTART, so that a signal ends a system call that waits */
	const struct sigaction action = {.sa_handler = note_signal};
	struct sigaction before;

	holding = 1;
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		/* nohup ignores SIGHUP, and a background job of a shell ignores SIGINT: these stay ignored */
		if (sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN) {
			(void)sigaction(numbers[i], &action, NULL);
		}
	}
}

int interrupt_seen(void)
{
	return seen;
}

void interrupt_release(void)
{
	holding = 0;
	if (seen != 0) {
		(void)fflush(stdout);
		end_by(seen);
	}
}

/* ---- the line on the terminal ---- */

static void draw_line(const char *doing, uint64_t done, uint64_t whole)
{
	char line[LINE_BYTES], of[32] = "";

	if (whole != 0) {
		/* the count replaces an estimate that was too low, so that the line never shows more than 100% */
		snprintf(of, sizeof(of), " of %" PRIu64, whole < done ? done : whole);
	}
	snprintf(line, sizeof(line), "%s  %" PRIu64 "%s entries", doing, done, of);
	console_status(line);
}

bool progress_show(const char *doing, uint64_t done, uint64_t whole)
{
	static const char *drawn;
	static int64_t drawn_ns;
	int64_t now = progress_clock();

	/* the first line of a new phase is drawn at once */
	if (doing != drawn || now - drawn_ns >= PERIOD_NS) {
		drawn = doing;
		drawn_ns = now;
		if (isatty(STDERR_FILENO) == 1) {
			draw_line(doing, done, whole);
		}
	}
	return seen != 0;
}

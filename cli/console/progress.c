/* SPDX-License-Identifier: MIT */
/*
 * The line is written with write(2) and not with stdio, because the signal handler wipes the line too. Everything that
 * the handler reads is in sig_atomic_t variables. The terminal is examined again for each line, because the job may
 * move to the background.
 * The handler is installed when the first line is drawn or an interrupt is held. Before that, signals have their
 * default action.
 */
#include "cli/console/progress.h"

#include "cli/console/console.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PERIOD_NS  INT64_C(100000000)
#define LINE_BYTES 80

static struct {
	const char *doing;
	int64_t drawn_ns;
} progress;

/* Read by the signal handler. */
static volatile sig_atomic_t shown; /* columns of the line on the terminal; 0: none */
static volatile sig_atomic_t holding, seen;

/* ---- signals ---- */

static const int numbers[] = {SIGHUP, SIGINT, SIGTERM};

#define NUMBERS (sizeof(numbers) / sizeof(numbers[0]))

/* If the handler calls this function, the raised signal is blocked and takes effect when the handler returns. */
static void end_by(int number)
{
	struct sigaction action = {.sa_handler = SIG_DFL};

	progress_wipe();
	(void)sigaction(number, &action, NULL);
	(void)raise(number);
}

static void handle_signal(int number)
{
	if (holding && seen == 0) {
		seen = number;
	} else {
		end_by(number);
	}
}

static void watch_signals(void)
{
	static bool watched;
	struct sigaction action = {.sa_handler = handle_signal};
	struct sigaction before;

	if (watched) {
		return;
	}
	watched = true;
	/* the handler runs with all of them blocked, so that a second signal does not interrupt its write */
	(void)sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < NUMBERS; i++) {
		(void)sigaddset(&action.sa_mask, numbers[i]);
	}
	for (size_t i = 0; i < NUMBERS; i++) {
		/* nohup ignores SIGHUP, and a background job of a shell ignores SIGINT: these stay ignored */
		if (sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN) {
			(void)sigaction(numbers[i], &action, NULL);
		}
	}
}

void interrupt_hold(void)
{
	holding = 1;
	watch_signals();
}

int interrupt_seen(void)
{
	return seen;
}

void interrupt_forget(void)
{
	seen = 0;
}

void interrupt_release(void)
{
	int number = seen;

	holding = 0;
	if (number != 0) {
		(void)fflush(stdout);
		end_by(number);
	}
}

/* ---- the line on the terminal ---- */

static bool may_draw(void)
{
	pid_t front;

	if (isatty(STDERR_FILENO) != 1) {
		return false;
	}
	/* tcgetpgrp() fails if this is not the controlling terminal; then no other job of the session uses it either */
	front = tcgetpgrp(STDERR_FILENO);
	return front < 0 || front == getpgrp();
}

/*
 * Replaces the line on the terminal. Blanks hide the rest of the old line. Async-signal-safe, because the signal
 * handler calls it too.
 */
static void replace_line(const char *line, size_t length)
{
	char bytes[LINE_BYTES + 2];
	size_t covered = (size_t)shown > length ? (size_t)shown : length;
	ssize_t done;

	bytes[0] = '\r';
	memset(bytes + 1, ' ', covered);
	memcpy(bytes + 1, line, length);
	bytes[1 + covered] = '\r';
	shown = (sig_atomic_t)length;
	/* errors are ignored, because the work does not depend on the progress line */
	done = write(STDERR_FILENO, bytes, covered + 2);
	(void)done;
}

void progress_wipe(void)
{
	/* errno is restored, because the handler may interrupt code between a failed call and its check of errno */
	int saved = errno;

	if (shown != 0) {
		replace_line("", 0);
	}
	errno = saved;
}

static void draw_line(uint64_t done, uint64_t whole)
{
	char first[CONSOLE_NUMBER_BYTES], second[CONSOLE_NUMBER_BYTES], line[LINE_BYTES];

	snprintf(line, sizeof(line), "%s  %s%s%s entries", progress.doing, console_count(done, first),
	         whole != 0 ? " of " : "", whole != 0 ? console_count(whole, second) : "");
	replace_line(line, strlen(line));
}

void progress_begin(const char *doing)
{
	progress.doing = doing;
	progress.drawn_ns = 0;
}

void progress_show(uint64_t done, uint64_t whole)
{
	int64_t now = progress_clock();

	if (progress.drawn_ns != 0 && now - progress.drawn_ns < PERIOD_NS) {
		return;
	}
	progress.drawn_ns = now;
	if (may_draw()) {
		watch_signals();
		console_before_error(progress_wipe);
		/* the count replaces an estimate that was too low, so that the line never shows more than 100% */
		draw_line(done, whole != 0 && whole < done ? done : whole);
	}
}

void progress_end(void)
{
	progress_wipe();
}

/* ---- chores of cache/tools ---- */

static void show_chore(struct chore *chore)
{
	/* the first line of a new phase is drawn at once */
	if (progress.doing != chore->doing) {
		progress_begin(chore->doing);
	}
	progress_show(chore->done, chore->whole);
}

static bool is_interrupted(void)
{
	return seen != 0;
}

struct chore *progress_chore(void)
{
	static struct chore chore;

	progress.doing = NULL;
	chore = (struct chore){.tell = show_chore, .stopped = is_interrupted};
	return &chore;
}

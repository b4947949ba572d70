/* SPDX-License-Identifier: MIT */
/*
 * The line is written with write(2) and not with stdio, because the signal handler wipes the line too. Everything that
 * the handler reads is in sig_atomic_t variables. The terminal is examined again for each line, because the window may
 * be resized and the job may move to the background.
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
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#define PERIOD_NS       INT64_C(100000000)
#define LEFT_AFTER_NS   INT64_C(500000000) /* until then the time left is not shown: the estimate would be poor */
#define LINE_BYTES      512
#define COLUMNS_DEFAULT 80
#define CELLS_MIN       8
#define CELLS_MAX       24
#define PART_BYTES      128

enum terminal { TERMINAL_NONE, TERMINAL_PLAIN, TERMINAL_FULL };

static struct {
	const char *doing;
	int64_t began_ns, drawn_ns;
} progress;

static struct {
	struct chore chore;
	const char *looking, *working;
} work;

/* Read by the signal handler. */
static volatile sig_atomic_t shown;   /* columns of the line on the terminal; 0: none */
static volatile sig_atomic_t escapes; /* the terminal knows escape sequences */
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

static enum terminal find_terminal(void)
{
	const char *term = getenv("TERM"), *colour = getenv("NO_COLOR");
	pid_t front;

	if (isatty(STDERR_FILENO) != 1) {
		return TERMINAL_NONE;
	}
	escapes = term && *term && strcmp(term, "dumb") != 0 && !(colour && *colour);
	/* tcgetpgrp() fails if this is not the controlling terminal; then no other job of the session uses it either */
	front = tcgetpgrp(STDERR_FILENO);
	return front >= 0 && front != getpgrp() ? TERMINAL_NONE : escapes ? TERMINAL_FULL : TERMINAL_PLAIN;
}

/* The last column stays free, because some terminals begin a new line after it. */
static size_t find_columns(void)
{
	struct winsize size = {0};
	size_t columns =
	    ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col != 0 ? size.ws_col : COLUMNS_DEFAULT;

	return columns > 1 ? columns - 1 : 1;
}

/* Errors are ignored, because the work does not depend on the progress line. */
static void write_bytes(const char *bytes, size_t size)
{
	ssize_t done = write(STDERR_FILENO, bytes, size);

	(void)done;
}

/* Replaces the line on the terminal. Async-signal-safe, because the signal handler calls it too. */
static void replace_line(const char *line, size_t length)
{
	char bytes[2 * LINE_BYTES + 8] = "\r";
	size_t size = 1 + length, before = (size_t)shown;

	memcpy(bytes + 1, line, length);
	if (escapes) {
		memcpy(bytes + size, "\x1b[K", 3);
		size += 3;
	} else if (before > length) {
		/* without escape sequences, blanks hide the rest of the old line */
		memset(bytes + size, ' ', before - length);
		size += before - length;
		bytes[size] = '\r';
		/* after a wipe the cursor has to be in the first column, where the next output begins */
		size += length == 0;
	}
	shown = (sig_atomic_t)length;
	write_bytes(bytes, size);
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

static void spell_counts(uint64_t done, uint64_t whole, enum progress_sum sum, char ret_text[PART_BYTES])
{
	char first[CONSOLE_NUMBER_BYTES], second[CONSOLE_NUMBER_BYTES];

	if (whole == 0) {
		snprintf(ret_text, PART_BYTES, "  %s entries", console_count(done, first));
	} else {
		snprintf(ret_text, PART_BYTES, "  %s of %s%s entries", console_count(done, first),
		         sum == PROGRESS_ESTIMATED ? "about " : "", console_count(whole, second));
	}
}

static void spell_left(int64_t elapsed_ns, uint64_t done, uint64_t whole, char ret_text[PART_BYTES])
{
	double seconds =
	    done > 0 && done < whole ? (double)elapsed_ns / 1e9 * (double)(whole - done) / (double)done : 0;

	ret_text[0] = '\0';
	if (elapsed_ns >= LEFT_AFTER_NS && seconds > 0) {
		snprintf(ret_text, PART_BYTES, "  %.0f %s left",
		         seconds < 100    ? seconds < 1 ? 1 : seconds
		         : seconds < 6000 ? seconds / 60
		                          : seconds / 3600,
		         seconds < 100    ? "s"
		         : seconds < 6000 ? "min"
		                          : "h");
	}
}

static void spell_bar(uint64_t done, uint64_t whole, size_t cells, char ret_bar[CELLS_MAX + 5])
{
	size_t full = done >= whole ? cells : (size_t)((double)done / (double)whole * (double)cells);

	memcpy(ret_bar, "  [", 3);
	memset(ret_bar + 3, '#', full);
	memset(ret_bar + 3 + full, '.', cells - full);
	ret_bar[cells + 3] = ']';
	ret_bar[cells + 4] = '\0';
}

static void draw_line(enum terminal terminal, int64_t now, uint64_t done, uint64_t whole, enum progress_sum sum)
{
	char counts[PART_BYTES], left[PART_BYTES], bar[CELLS_MAX + 5] = "", line[LINE_BYTES];
	size_t room = find_columns(), fixed, length;

	spell_counts(done, whole, sum, counts);
	spell_left(now - progress.began_ns, done, whole, left);
	fixed = strlen(progress.doing) + strlen(counts) + strlen(left);
	/* parts that do not fit are left out: first the bar, then the time */
	if (fixed > room) {
		left[0] = '\0';
	} else if (terminal == TERMINAL_FULL && whole != 0 && room - fixed >= CELLS_MIN + 4) {
		spell_bar(done, whole, room - fixed - 4 < CELLS_MAX ? room - fixed - 4 : CELLS_MAX, bar);
	}
	snprintf(line, sizeof(line), "%s%s%s%s", progress.doing, bar, counts, left);
	length = strlen(line);
	replace_line(line, length < room ? length : room);
}

int64_t progress_clock(void)
{
	struct timespec now = {0};

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

void progress_begin(const char *doing)
{
	progress.doing = doing;
	progress.began_ns = progress_clock();
	progress.drawn_ns = 0;
}

void progress_show(uint64_t done, uint64_t whole, enum progress_sum sum)
{
	int64_t now = progress_clock();
	enum terminal terminal;

	if (progress.drawn_ns != 0 && now - progress.drawn_ns < PERIOD_NS) {
		return;
	}
	progress.drawn_ns = now;
	terminal = find_terminal();
	if (terminal != TERMINAL_NONE) {
		watch_signals();
		console_before_error(progress_wipe);
		/* the count replaces an estimate that was too low, so that the line never shows more than 100% */
		draw_line(terminal, now, done, sum == PROGRESS_ESTIMATED && whole != 0 && whole < done ? done : whole,
		          sum);
	}
}

void progress_end(void)
{
	progress_wipe();
}

/* ---- chores of cache/tools ---- */

static void show_chore(struct chore *chore)
{
	const char *doing = chore->phase == CHORE_LOOKING ? work.looking : work.working;

	/* a new phase starts the clock again, because it has its own speed */
	if (progress.doing != doing) {
		progress_begin(doing);
	}
	progress_show(chore->done, chore->whole ? chore->whole : chore->guess,
	              chore->whole == 0 || chore->sum == CHORE_GUESSED ? PROGRESS_ESTIMATED : PROGRESS_KNOWN);
}

static bool is_interrupted(void)
{
	return seen != 0;
}

struct chore *progress_chore(const char *looking, const char *working)
{
	progress.doing = NULL;
	work.looking = looking;
	work.working = working;
	work.chore = (struct chore){.tell = show_chore, .stopped = is_interrupted};
	return &work.chore;
}

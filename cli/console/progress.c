/* SPDX-License-Identifier: MIT */
#include "cli/console/progress.h"

#include "cli/console/console.h"
#include "cli/console/interrupt.h"
#include "cli/console/terminal.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#define PERIOD_NS   INT64_C(100000000)
#define MARK_NS     INT64_C(2000000000) /* between the marks that the rate is taken from */
#define RATE_MIN_NS INT64_C(500000000)  /* less says nothing */
#define CELLS_MIN   8
#define CELLS_MAX   24
#define PART_BYTES  128

int64_t progress_clock(void)
{
	struct timespec now = {0};

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

void progress_begin(struct progress *progress, const char *doing)
{
	int64_t now = progress_clock();

	*progress = (struct progress){.doing = doing, .marks = {{.ns = now}, {.ns = now}}};
}

/* What a line is made of; an empty part is left out. */
struct parts {
	char counts[PART_BYTES], rate[PART_BYTES], left[PART_BYTES];
	double share; /* of the bar; below 0: no bar */
};

static void spell_counts(uint64_t done, uint64_t whole, const char *about, char ret_text[PART_BYTES])
{
	char first[CONSOLE_NUMBER_BYTES], second[CONSOLE_NUMBER_BYTES];

	if (whole == 0) {
		snprintf(ret_text, PART_BYTES, "%s results", console_count(done, first));
	} else {
		snprintf(ret_text, PART_BYTES, "%s of %s%s results", console_count(done, first), about,
		         console_count(whole, second));
	}
}

/* "3 s", "2 min", "5 h": nobody needs to know it better. */
static void spell_left(double seconds, char ret_text[PART_BYTES])
{
	if (seconds < 100) {
		snprintf(ret_text, PART_BYTES, "%.0f s left", seconds < 1 ? 1 : seconds);
	} else if (seconds < 100 * 60) {
		snprintf(ret_text, PART_BYTES, "%.0f min left", seconds / 60);
	} else {
		snprintf(ret_text, PART_BYTES, "%.0f h left", seconds / 3600);
	}
}

static void spell_rate(double rate, char ret_text[PART_BYTES])
{
	char text[CONSOLE_NUMBER_BYTES];
	uint64_t step = 1;

	/* two digits that count; the others would flicker */
	while (rate / (double)step >= 100) {
		step *= 10;
	}
	snprintf(ret_text, PART_BYTES, "%s/s", console_count((uint64_t)(rate / (double)step + 0.5) * step, text));
}

static void make_parts(const struct progress *progress, int64_t now, uint64_t done, uint64_t whole, const char *about,
                       struct parts *ret_parts)
{
	const struct progress_mark *since = &progress->marks[0];
	double rate = now - since->ns >= RATE_MIN_NS && done > since->done
	                  ? (double)(done - since->done) * 1e9 / (double)(now - since->ns)
	                  : 0;

	*ret_parts = (struct parts){.share = whole != 0 ? (double)done / (double)whole : -1};
	spell_counts(done, whole, about, ret_parts->counts);
	if (rate >= 1) {
		spell_rate(rate, ret_parts->rate);
	}
	if (rate > 0 && done < whole) {
		spell_left((double)(whole - done) / rate, ret_parts->left);
	}
}

static void append(char *line, size_t bytes, const char *part)
{
	size_t length = strlen(line);

	if (*part != '\0' && length + strlen(part) + 2 < bytes) {
		snprintf(line + length, bytes - length, "%s%s", length != 0 ? "  " : "", part);
	}
}

static size_t width_of(const char *part)
{
	return *part != '\0' ? strlen(part) + 2 : 0;
}

static void draw_bar(double share, size_t cells, char ret_bar[CELLS_MAX + 3])
{
	size_t full = share >= 1 ? cells : (size_t)(share * (double)cells);

	ret_bar[0] = '[';
	memset(ret_bar + 1, '#', full);
	memset(ret_bar + 1 + full, '.', cells - full);
	ret_bar[cells + 1] = ']';
	ret_bar[cells + 2] = '\0';
}

/* At most `room` columns: the rate goes first, then the bar, then the time left. */
static void compose(const struct progress *progress, struct parts *parts, enum terminal_kind kind, size_t room,
                    char *ret_line, size_t bytes)
{
	size_t fixed = strlen(progress->doing) + width_of(parts->counts) + width_of(parts->left);
	bool bar = kind == TERMINAL_FULL && parts->share >= 0 && room >= fixed + CELLS_MIN + 4;
	char cells[CELLS_MAX + 3] = "";

	if (fixed + width_of(parts->rate) + (bar ? CELLS_MIN + 4 : 0) > room) {
		parts->rate[0] = '\0';
	}
	if (fixed > room) {
		parts->left[0] = '\0';
	}
	if (bar) {
		size_t most = room - fixed - width_of(parts->rate) - 4;

		draw_bar(parts->share, most < CELLS_MAX ? most : CELLS_MAX, cells);
	}
	snprintf(ret_line, bytes, "%s", progress->doing);
	append(ret_line, bytes, cells);
	append(ret_line, bytes, parts->counts);
	append(ret_line, bytes, parts->rate);
	append(ret_line, bytes, parts->left);
	if (strlen(ret_line) > room) {
		ret_line[room] = '\0';
	}
}

static void draw(struct progress *progress, uint64_t done, uint64_t whole, const char *about)
{
	int64_t now = progress_clock();
	enum terminal_kind kind;
	char line[4 * PART_BYTES];
	struct parts parts;
	unsigned columns;

	if (progress->drawn_ns != 0 && now - progress->drawn_ns < PERIOD_NS) {
		return;
	}
	kind = terminal_kind();
	progress->drawn_ns = now;
	if (now - progress->marks[1].ns >= MARK_NS) {
		progress->marks[0] = progress->marks[1];
		progress->marks[1] = (struct progress_mark){.ns = now, .done = done};
	}
	if (kind == TERMINAL_NONE) {
		return;
	}
	interrupt_watch();
	columns = terminal_columns(); /* the last one stays free: some terminals begin a new line after it */
	make_parts(progress, now, done, whole, about, &parts);
	compose(progress, &parts, kind, columns > 1 ? columns - 1 : 1, line, sizeof(line));
	terminal_show(line);
}

void progress_show(struct progress *progress, uint64_t done, uint64_t whole)
{
	draw(progress, done, whole, "");
}

void progress_guess(struct progress *progress, uint64_t done, uint64_t about)
{
	draw(progress, done, about != 0 && about < done ? done : about, "about ");
}

void progress_end(struct progress *progress)
{
	progress->drawn_ns = 0;
	terminal_wipe();
}

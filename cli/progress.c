/* SPDX-License-Identifier: MIT */
#include "cli/progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define PERIOD_NS INT64_C(100000000)

static int64_t now_ns(void)
{
	struct timespec now = {0};

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

void progress_begin(struct progress *progress, const char *doing)
{
	*progress = (struct progress){.shown = isatty(STDERR_FILENO) == 1, .doing = doing};
}

void progress_show(struct progress *progress, uint64_t done, uint64_t whole)
{
	int64_t now;

	if (!progress->shown) {
		return;
	}
	now = now_ns();
	if (progress->dirty && now - progress->last_ns < PERIOD_NS) {
		return;
	}
	progress->dirty = true;
	progress->last_ns = now;
	if (whole != 0) {
		fprintf(stderr, "\r%s: %3d %%", progress->doing,
		        done >= whole ? 100 : (int)(100.0 * (double)done / (double)whole));
	} else {
		fprintf(stderr, "\r%s: %" PRIu64, progress->doing, done);
	}
}

void progress_end(struct progress *progress)
{
	if (progress->dirty) {
		fputs("\r\x1b[K", stderr);
	}
	progress->dirty = false;
}

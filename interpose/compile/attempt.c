/* SPDX-License-Identifier: MIT */
#include "interpose/compile/attempt.h"

#include "interpose/nvrtc/pch.h"
#include "interpose/watch/arithmetic.h"

#include <stdlib.h>

void attempt_forget_request(struct attempt *attempt)
{
	stream_free(&attempt->call);
	roots_free(&attempt->roots);
	options_free(&attempt->options);
	attempt->roots = (struct roots){0};
	attempt->options = (struct options){0};
}

void attempt_free(struct attempt *attempt)
{
	flight_land(&attempt->flight, attempt->outcome);
	attempt_forget_request(attempt);
	trace_free(&attempt->trace);
	snapshot_free(attempt->told);
	attempt->told = NULL;
	attempt->cwd = NULL;
	free(attempt->more);
	attempt->more = NULL;
	free(attempt->anew);
	attempt->anew = NULL;
}

void attempt_watch(struct attempt *attempt, struct library *library, bool watched)
{
	attempt->told = snapshot_take();
	if (!attempt->told) {
		attempt->doubt = COUNTER_ERRORS_memory;
	}
	attempt->cwd = attempt->told ? attempt->told->cwd : NULL;
	attempt->places = (struct places){&attempt->roots, attempt->cwd};
	trace_init(&attempt->trace, stamp_now());
	attempt->trace.places = &attempt->places;
	attempt->trace.told = attempt->told;
	attempt->trace.scratch = attempt->options.pch;
	attempt->trace.mode = arithmetic_mode();
	attempt->watched = watched && watch_verify(atomic_load(&library->watch));
	if (attempt->watched) {
		if (watch_arithmetic(atomic_load(&library->watch))->knowledge != ARITHMETIC_WATCHED) {
			trace_taint(&attempt->trace, TAINT_ARITHMETIC);
		}
		watch_begin(&attempt->trace);
	}
}

void attempt_unwatch(struct attempt *attempt, struct library *library)
{
	if (!attempt->watched) {
		return;
	}
	watch_end(&attempt->trace);
	if (attempt->options.pch) {
		attempt->pch_error = pch_complete(&attempt->trace);
		pch_remember(&attempt->trace);
	}
	if (!watch_verify(atomic_load(&library->watch))) {
		attempt->watched = false;
		library_give_up(library, COUNTER_BYPASSED_not_watched, "its patched imports were overwritten");
	}
}

void attempt_abandon(struct attempt *attempt)
{
	if (attempt->watched) {
		watch_end(&attempt->trace);
	}
}

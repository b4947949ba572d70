/* SPDX-License-Identifier: MIT */
#include "interpose/compile/attempt.h"

#include "interpose/watch/arithmetic.h"

#include <stdlib.h>

struct attempt *attempt_new(struct library *library, struct event *event)
{
	struct attempt *attempt = calloc(1, library->compiler->attempt_size);

	if (attempt) {
		attempt->library = library;
		attempt->event = event;
	}
	return attempt;
}

void attempt_forget_request(struct attempt *attempt)
{
	stream_free(&attempt->run);
	roots_free(&attempt->roots);
	if (attempt->library->compiler->free_attempt) {
		attempt->library->compiler->free_attempt(attempt);
	}
}

void attempt_free(struct attempt *attempt)
{
	if (!attempt) {
		return;
	}
	compile_lock_release(&attempt->compile_lock, attempt->outcome);
	attempt_forget_request(attempt);
	trace_free(&attempt->trace);
	snapshot_free(attempt->told);
	free(attempt->anew);
	free(attempt);
}

void attempt_watch(struct attempt *attempt, enum watching watching)
{
	struct library *library = attempt->library;

	attempt->told = snapshot_take(library->compiler->environment);
	if (!attempt->told) {
		attempt->doubt = COUNTER_ERRORS_memory;
	}
	attempt->cwd = attempt->told ? attempt->told->cwd : NULL;
	attempt->places = (struct places){&attempt->roots, attempt->cwd};
	trace_init(&attempt->trace, stamp_now());
	attempt->trace.places = &attempt->places;
	attempt->trace.told = attempt->told;
	attempt->trace.reader = library->compiler->reader;
	attempt->trace.scratch = library->compiler->scratch ? library->compiler->scratch(attempt) : NULL;
	attempt->trace.mode = arithmetic_mode();
	attempt->watched = watching == WATCHING_IMPORTS && watch_verify(atomic_load(&library->watch));
	if (attempt->watched) {
		if (watch_arithmetic(atomic_load(&library->watch))->knowledge != ARITHMETIC_WATCHED) {
			trace_taint(&attempt->trace, TAINT_ARITHMETIC);
		}
		watch_begin(&attempt->trace);
	}
}

void attempt_unwatch(struct attempt *attempt)
{
	struct library *library = attempt->library;

	if (!attempt->watched) {
		return;
	}
	watch_end(&attempt->trace);
	if (library->compiler->unwatched) {
		library->compiler->unwatched(attempt);
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

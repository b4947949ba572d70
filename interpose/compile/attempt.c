/* SPDX-License-Identifier: MIT */
/*
 * The real call may not return: the host's thread can be cancelled in it, and a callback may jump out of it. In the
 * first case a cleanup handler frees the attempt. In the second case the attempt, which is on the heap, is leaked.
 */
#include "interpose/compile/attempt.h"

#include "interpose/compile/library_steps.h"
#include "interpose/compile/runtime.h"
#include "interpose/watch/arithmetic.h"
#include "interpose/watch/live.h"

#include <pthread.h>
#include <stdlib.h>

/*
 * Also releases the compile lock, with the outcome recorded so far, so that waiting processes continue even if the
 * host's thread is cancelled in the real compilation.
 */
void attempt_free(struct attempt *attempt)
{
	if (!attempt) {
		return;
	}
	compile_lock_release(&attempt->compile_lock, attempt->outcome);
	request_clear(&attempt->request);
	trace_free(&attempt->observed.trace);
	snapshot_free(attempt->observed.told);
	free(attempt);
}

/* A call into the compiler or the host's callback, which may not return. */
struct excursion {
	struct handle *handle;
	const struct call *call; /* for a real compile; NULL: the host's callback */
	struct attempt *attempt;
	struct entry *held; /* a reference to drop; or NULL */
	int result;
};

/* Cleanup handler for a host's thread that is cancelled in the real compilation or in the callback. */
static void abandon_attempt(void *context)
{
	const struct excursion *excursion = context;

	if (excursion->held) {
		entry_unref(excursion->held);
	}
	if (excursion->attempt->observed.watched) {
		live_end(&excursion->attempt->observed.trace);
	}
	attempt_free(excursion->attempt);
}

/* Before glibc 2.34 pthread_cleanup_push() needs libpthread. A process without libpthread cannot cancel a thread. */
#pragma weak __pthread_register_cancel
#pragma weak __pthread_unregister_cancel
#pragma weak __pthread_unwind_next

static void make_excursion(struct excursion *excursion)
{
	const struct handle *handle = excursion->handle;
	int ours;

	if (excursion->call) {
		excursion->result = handle_run(handle, excursion->call);
		return;
	}
	ours = handle_enter_real(handle);
	excursion->result = handle->library->compiler->host_stops(excursion->handle);
	(void)pthread_setcancelstate(ours, NULL);
}

static int leave_library(struct excursion *excursion)
{
	if (!__pthread_register_cancel) {
		make_excursion(excursion);
		return excursion->result;
	}
	pthread_cleanup_push(abandon_attempt, excursion);
	make_excursion(excursion);
	pthread_cleanup_pop(0);
	return excursion->result;
}

bool attempt_callback(struct handle *handle, struct attempt *attempt, struct entry *held)
{
	struct excursion excursion = {.handle = handle, .attempt = attempt, .held = held};

	return leave_library(&excursion) != 0;
}

/*
 * Returns true if the imports are still patched. If another tool has written them, nothing of the library is cached any
 * more, even if that tool restores them: the texts of a compilation that was not watched are not searched, and a later
 * one of its handle relies on that.
 */
static bool keep_watching(struct library *library)
{
	if (watch_verify(atomic_load(&library->watch))) {
		return true;
	}
	library_give_up(library, COUNTER_BYPASSED_not_watched, "its patched imports were overwritten");
	return false;
}

static void begin_watch(const struct request *request, bool watchable, struct observed *observed)
{
	struct library *library = request->library;

	/* The snapshot is taken before the compilation, because each answer to the compiler is compared with it. */
	observed->told = snapshot_take(library->compiler->environment);
	if (!observed->told) {
		observed->doubt = COUNTER_ERRORS_memory;
	}
	observed->places = (struct places){&request->roots, observed->told ? observed->told->cwd : NULL};
	trace_init(&observed->trace, stamp_now());
	observed->trace.places = &observed->places;
	observed->trace.told = observed->told;
	observed->trace.reader = library->compiler->reader;
	observed->trace.scratch = request->scratch;
	observed->trace.lock = request->lock;
	if (!watchable || !keep_watching(library)) {
		return;
	}
	observed->watched = true;
	/* not all calls of mathematics functions can be observed, so every compilation counts as having made some */
	if (watch_arithmetic(atomic_load(&library->watch))->knowledge != ARITHMETIC_WATCHED) {
		trace_taint(&observed->trace, TAINT_ARITHMETIC);
	}
	live_begin(&observed->trace);
}

static void end_watch(struct handle *handle, const struct call *call, const struct request *request,
                      struct observed *observed)
{
	struct library *library = request->library;

	if (!observed->watched) {
		return;
	}
	live_end(&observed->trace);
	if (library->compiler->unwatched) {
		observed->unknown = library->compiler->unwatched(handle, call, request, &observed->trace);
	}
	observed->watched = keep_watching(library);
}

void attempt_compile(struct handle *handle, const struct call *call, enum counter doubt, struct attempt *attempt,
                     struct entry *held)
{
	const struct compiler *compiler = handle->library->compiler;
	const struct request *request = &attempt->request;
	struct observed *observed = &attempt->observed;
	bool watchable = library_patch(handle->library);
	struct excursion excursion = {.handle = handle, .call = call, .attempt = attempt, .held = held};
	int64_t start;

	observed->doubt = doubt;
	begin_watch(request, watchable, observed);
	/* The clock starts after the set-up of the watch, because this is the time that a hit is reported to save. */
	start = runtime_clock();
	observed->return_code = leave_library(&excursion);
	observed->cost_ns = (uint64_t)(runtime_clock() - start);
	observed->outcome = handle_outcome(compiler, observed->return_code);
	end_watch(handle, call, request, observed);
	if (!watchable) {
		observed->doubt = COUNTER_BYPASSED_unwatchable;
	}
	if (!observed->doubt && observed->watched && !request_unchanged(handle, call, request, observed->told)) {
		observed->doubt = COUNTER_BYPASSED_environment;
	}
}

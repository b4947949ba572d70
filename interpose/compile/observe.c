/* SPDX-License-Identifier: MIT */
/*
 * The real call may not return: the host's thread can be cancelled in it, and a callback may jump out of it. In the
 * first case a cleanup handler frees the attempt. In the second case the attempt, which is on the heap, is leaked.
 */
#include "interpose/compile/observe.h"
#include "interpose/compile/library_steps.h"
#include "interpose/compile/runtime.h"
#include "interpose/watch/arithmetic.h"

#include <pthread.h>
#include <stdlib.h>

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
	if (excursion->attempt->observed.watching == WATCHING_IMPORTS) {
		watch_end(&excursion->attempt->observed.trace);
	}
	attempt_free(excursion->attempt);
}

/* Before glibc 2.34 pthread_cleanup_push() needs libpthread. A process without libpthread cannot cancel a thread. */
#pragma weak __pthread_register_cancel
#pragma weak __pthread_unregister_cancel
#pragma weak __pthread_unwind_next

static int leave_library(struct excursion *excursion, void (*where)(struct excursion *excursion))
{
	if (!__pthread_register_cancel) {
		where(excursion);
		return excursion->result;
	}
	pthread_cleanup_push(abandon_attempt, excursion);
	where(excursion);
	pthread_cleanup_pop(0);
	return excursion->result;
}

static void call_compiler(struct excursion *excursion)
{
	excursion->result = handle_run(excursion->handle, excursion->call, CANCELLATION_OF_HOST);
}

static void call_host(struct excursion *excursion)
{
	int ours = handle_enter_real(excursion->handle, CANCELLATION_OF_HOST);

	excursion->result = excursion->handle->library->compiler->host_stops(excursion->handle);
	handle_leave_real(ours);
}

bool observe_callback(struct handle *handle, struct attempt *attempt, struct entry *held)
{
	struct excursion excursion = {.handle = handle, .attempt = attempt, .held = held};

	return leave_library(&excursion, call_host) != 0;
}

/*
 * If another tool has written the import slots, nothing of the library is cached any more, even if that tool restores
 * them: the texts of a compilation that was not watched are not searched, and a later one of its handle relies on that.
 */
static bool is_still_patched(struct library *library)
{
	if (watch_verify(atomic_load(&library->watch))) {
		return true;
	}
	library_give_up(library, COUNTER_BYPASSED_not_watched, "its patched imports were overwritten");
	return false;
}

static void begin_watch(const struct request *request, enum watching watching, struct observed *observed)
{
	struct library *library = request->library;

	/* The snapshot is taken before the compilation, because each answer to the compiler is compared with it. */
	observed->told = snapshot_take(library->compiler->environment);
	if (!observed->told) {
		observed->doubt = COUNTER_ERRORS_memory;
	}
	observed->cwd = observed->told ? observed->told->cwd : NULL;
	observed->places = (struct places){&request->roots, observed->cwd};
	trace_init(&observed->trace, stamp_now());
	observed->trace.places = &observed->places;
	observed->trace.told = observed->told;
	observed->trace.reader = library->compiler->reader;
	observed->trace.scratch = request->scratch;
	observed->trace.lock = request->lock;
	observed->trace.mode = arithmetic_mode();
	if (watching == WATCHING_NOTHING || !is_still_patched(library)) {
		return;
	}
	observed->watching = WATCHING_IMPORTS;
	/* not all calls of mathematics functions can be observed, so every compilation counts as having made some */
	if (watch_arithmetic(atomic_load(&library->watch))->knowledge != ARITHMETIC_WATCHED) {
		trace_taint(&observed->trace, TAINT_ARITHMETIC);
	}
	watch_begin(&observed->trace);
}

static void end_watch(struct handle *handle, const struct call *call, const struct request *request,
                      struct observed *observed)
{
	struct library *library = request->library;

	if (observed->watching == WATCHING_NOTHING) {
		return;
	}
	watch_end(&observed->trace);
	if (library->compiler->unwatched) {
		observed->unknown = library->compiler->unwatched(handle, call, request, &observed->trace);
	}
	if (!is_still_patched(library)) {
		observed->watching = WATCHING_NOTHING;
	}
}

void observe_compile(struct handle *handle, const struct call *call, enum counter doubt, struct attempt *attempt,
                     struct entry *held)
{
	const struct compiler *compiler = handle->library->compiler;
	const struct request *request = &attempt->request;
	struct observed *observed = &attempt->observed;
	enum watching watching = library_watched(handle->library) ? WATCHING_IMPORTS : WATCHING_NOTHING;
	struct excursion excursion = {.handle = handle, .attempt = attempt, .held = held};
	int64_t start;

	observed->doubt = doubt;
	if (compiler->prepare && !compiler->prepare(handle, call, request, &observed->given)) {
		observed->doubt = COUNTER_ERRORS_memory;
	}
	excursion.call = observed->given.options ? &observed->given : call;
	begin_watch(request, watching, observed);
	/* The clock starts after the set-up of the watch, because this is the time that a hit is reported to save. */
	start = runtime_clock();
	observed->return_code = leave_library(&excursion, call_compiler);
	observed->cost_ns = (uint64_t)(runtime_clock() - start);
	end_watch(handle, call, request, observed);
	if (watching == WATCHING_NOTHING) {
		observed->doubt = COUNTER_BYPASSED_unwatchable;
	}
	if (!observed->doubt && observed->watching == WATCHING_IMPORTS &&
	    !request_unchanged(handle, call, request, observed->told)) {
		observed->doubt = COUNTER_BYPASSED_environment;
	}
}

/* SPDX-License-Identifier: MIT */
#include "interpose/compile/compile.h"

#include "interpose/compile/about.h"
#include "interpose/compile/admit.h"
#include "interpose/compile/call_journal.h"
#include "interpose/compile/call_log.h"
#include "interpose/compile/describe.h"
#include "interpose/compile/event.h"
#include "interpose/compile/excursion.h"
#include "interpose/compile/fetch.h"
#include "interpose/compile/linked_callers.h"
#include "interpose/compile/log.h"
#include "interpose/compile/look_up.h"
#include "interpose/compile/replay.h"
#include "interpose/compile/result.h"
#include "interpose/compile/runtime.h"
#include "interpose/compile/timeline.h"
#include "interpose/compile/verify.h"
#include "keygen/conditions.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * More compiles of one handle than this are passed through: each makes the next key longer, and a miss after hits does
 * all of them again, and each hit holds an entry for as long as the handle lives. (Steps would be done anyway.)
 */
#define HISTORY_MAX 32

static int real_compile(const struct handle *handle, const struct call *call)
{
	return handle->library->compiler->run(handle, call, CANCELLATION_OF_HOST);
}

/* The callback of the host, which may never come back. */
static bool host_cancels(const struct handle *handle, struct attempt *attempt, struct entry *entry)
{
	struct excursion excursion = {.handle = handle, .attempt = attempt, .entry = entry};

	excursion_to_callback(&excursion);
	return excursion.result != 0;
}

/*
 * Of calls that have nothing to do with one another: what is done is not owed. But if something greater is, which would
 * cover it, it will have to be done again after that.
 */
static void note_independent(struct handle *handle, const struct call *call, uint64_t asked)
{
	const struct compiler *compiler = handle->library->compiler;
	static const struct key none;

	handle_forget_calls(handle, call->kind);
	if (handle_owes(handle) && (!compiler->sound || compiler->sound(call)) &&
	    handle_add_call(handle, call, &none, asked, CALL_OWED) != 0) {
		handle_unkey(handle, COUNTER_ERRORS_memory);
	}
}

/* While the handle still has what it was asked for. */
static void tell_request(const struct handle *handle, const struct call *call, struct event *event)
{
	if (call_journal_wanted()) {
		about_request(handle, call, NULL, &event->about);
	}
}

/* The real compile, and nothing else. The handle's past, where that counts, is no longer known in full. */
static int pass_through(struct handle *handle, const struct call *call, enum counter reason, struct event *event)
{
	bool was_served = handle->served != NULL;
	int result;

	counters_bypassed(handle->library->compiler->share, reason);
	event_set(event, EVENT_PASSED_THROUGH, reason);
	(void)replay(handle);
	result = real_compile(handle, call);
	tell_request(handle, call, event);
	if (handle->library->compiler->past == PAST_IS_NOTHING) {
		note_independent(handle, call, 0);
		return result;
	}
	if (was_served && handle->base && handle->library->compiler->outcome(result) == OUTCOME_REFUSED_CALL) {
		replay_take_back(handle);
	}
	handle_unkey(handle, reason);
	return result;
}

/* The host's callback said stop: the real library is made to stop, which leaves it in the state that the host expects.
 */
static int cancelled(struct handle *handle, const struct call *call, struct event *event)
{
	int result;

	counters_bypassed(handle->library->compiler->share, COUNTER_BYPASSED_cancelled);
	event_set(event, EVENT_PASSED_THROUGH, COUNTER_BYPASSED_cancelled);
	(void)replay(handle);
	handle->library->compiler->let_answer(handle, ANSWER_STOP);
	result = real_compile(handle, call);
	handle->library->compiler->let_answer(handle, ANSWER_HOST);
	tell_request(handle, call, event);
	handle_unkey(handle, COUNTER_BYPASSED_history);
	return result;
}

/* True when the handle is now served. */
static bool answer_call_from(struct handle *handle, const struct call *call, struct attempt *attempt,
                             struct entry *entry)
{
	const struct compiler *compiler = handle->library->compiler;
	uint64_t cost = entry_info(entry)->cost_ns;
	uint64_t asked = digest_half(&runtime_get()->secret, attempt->spans);
	uint64_t spent;

	if (compiler->past == PAST_IS_NOTHING) {
		handle_forget_calls(handle, call->kind);
	}
	if (handle_add_call(handle, call, &attempt->key, asked, CALL_OWED) != 0) {
		handle_unkey(handle, COUNTER_ERRORS_memory);
		return false;
	}
	if (handle_answer_from(handle, entry) != 0) {
		handle->call_count--;
		return false;
	}
	handle->calls[handle->call_count - 1].answer = entry;
	if (compiler->served) {
		compiler->served(handle, entry);
	}
	if (compiler->grown) {
		compiler->grown(handle, entry);
	}
	if (compiler->past == PAST_LEAVES) {
		stream_free(&handle->creation);
	}
	spent = (uint64_t)(runtime_clock() - attempt->event->start_ns);
	runtime_count_share(compiler->share, attempt->from_memory ? COUNTER_TOTAL_hits_memory : COUNTER_TOTAL_hits_disk,
	                    1);
	runtime_count_share(compiler->share, COUNTER_TOTAL_saved_ns, cost > spent ? cost - spent : 0);
	event_set(attempt->event, attempt->from_memory ? EVENT_HIT_IN_MEMORY : EVENT_HIT_ON_DISK, COUNTER_NONE);
	event_note_entry(attempt->event, entry);
	return true;
}

/* What the handle has been through with this call. */
static void note_call(struct handle *handle, const struct call *call, const struct attempt *attempt, int result)
{
	const struct compiler *compiler = handle->library->compiler;
	enum outcome outcome = compiler->outcome(result);
	bool refused = outcome == OUTCOME_REFUSED_OPTIONS;

	if (compiler->past == PAST_IS_NOTHING) {
		note_independent(handle, call, digest_half(&runtime_get()->secret, attempt->spans));
		return;
	}
	if (attempt->doubt == COUNTER_BYPASSED_history) {
		handle_unkey(handle, COUNTER_BYPASSED_history);
	} else if (handle_add_call(handle, call, &attempt->key, attempt->fingerprint.low,
	                           refused ? CALL_REFUSED : CALL_DONE) != 0) {
		handle_unkey(handle, COUNTER_ERRORS_memory);
	} else if (outcome != OUTCOME_SUCCESS && outcome != OUTCOME_FAILURE && !refused) {
		handle_unkey(handle, COUNTER_BYPASSED_history);
	}
	if (handle->keyed && !refused && compiler->past == PAST_LEAVES) {
		stream_free(&handle->creation);
	}
}

/* What comes after a step hangs on all that the step hung on, so that must be known. */
static void note_step(struct handle *handle, const struct entry *kept)
{
	if (!kept) {
		handle_unkey(handle, COUNTER_BYPASSED_history);
	} else if (handle->library->compiler->grown) {
		handle->library->compiler->grown(handle, kept);
	}
}

/* The real compile under watch; keeps the result if it may be kept. `expected`: an entry to be compared (B14). */
static int compile_for_real(struct handle *handle, const struct call *call, struct attempt *attempt,
                            struct entry *expected)
{
	const struct compiler *compiler = handle->library->compiler;
	struct entry *kept;
	bool watched = library_watched(handle->library);
	struct excursion excursion = {.handle = handle, .attempt = attempt};
	int64_t start;
	int result;

	if (!replay(handle)) {
		attempt->doubt = COUNTER_BYPASSED_history;
	}
	if (compiler->prepare && !compiler->prepare(handle, call, attempt)) {
		attempt->doubt = COUNTER_ERRORS_memory;
	}
	excursion.call = attempt->instead.options ? &attempt->instead : call;
	attempt_watch(attempt, watched ? WATCHING_IMPORTS : WATCHING_NOTHING);
	start = runtime_clock();
	excursion_to_compiler(&excursion);
	result = excursion.result;
	attempt->cost_ns = (uint64_t)(runtime_clock() - start);
	attempt->event->compile_ns = attempt->cost_ns;
	attempt_unwatch(attempt);
	if (!watched) {
		attempt->doubt = COUNTER_BYPASSED_unwatchable;
	}
	if (!attempt->doubt && attempt->watched && !describes_still(handle, call, attempt)) {
		attempt->doubt = COUNTER_BYPASSED_environment;
	}
	if (!expected) {
		runtime_count_share(compiler->share, COUNTER_TOTAL_misses, 1);
		runtime_count_share(compiler->share, COUNTER_TOTAL_compile_ns, attempt->cost_ns);
		runtime_count(COUNTER_TOTAL_stale, attempt->stale);
		attempt->event->is_stale = attempt->stale;
		if (compiler->read_texts) {
			compiler->read_texts(handle, call, attempt);
		}
		kept = admit_result(handle, call, attempt, result);
	} else {
		kept = entry_ref(expected);
		runtime_count(COUNTER_TOTAL_verified, 1);
		event_set(attempt->event, EVENT_VERIFIED, COUNTER_NONE);
		verify_compare(handle, attempt, excursion.call, result, expected);
	}
	note_call(handle, call, attempt, result);
	if (compiler->past == PAST_GROWS && handle->keyed) {
		note_step(handle, kept);
	}
	entry_unref(kept);
	return result;
}

/*
 * After a miss: true when all is to be looked at anew (what the key is made of too: the host runs on while we wait).
 * Nobody waits for a compile with a flow callback, which is host code that may wait for others, or the other way round,
 * as it may want to stop.
 */
static bool wait_for_others(const struct handle *handle, struct attempt *attempt)
{
	const struct settings *settings = &runtime_get()->settings;
	const struct compile_lock_options options = {
	    .directory = settings->directory,
	    .shared = settings->shared,
	    .read_only = settings->read_only,
	    .wait_seconds = handle->asks_host || settings->recache ? 0 : settings->wait,
	};
	int64_t start = runtime_clock();
	bool again = compile_lock_acquire(&attempt->compile_lock, &options, attempt->key.bytes);

	if (attempt->compile_lock.waited) {
		event_note_wait(attempt->event, start, runtime_clock());
	}
	return again;
}

/*
 * A step that is served may have to be made up for later, and then as it would have been now: not one that opens files,
 * which may be others by then, or gone, or looked for in another directory.
 */
static bool can_be_owed(const struct handle *handle, const struct call *call, const struct entry *entry)
{
	size_t size;
	const void *conditions = entry_conditions(entry, &size);

	return handle->library->compiler->past != PAST_GROWS || call->kind == 0 ||
	       !conditions_name_files(conditions, size);
}

/* Can this host be given what holds? Else the event says why not. */
static bool is_fit(struct handle *handle, const struct call *call, const struct entry *entry, struct event *event)
{
	const struct compiler *compiler = handle->library->compiler;
	enum outcome outcome = compiler->outcome(result_value(entry, RESULT_TAG_RETURN_CODE, -1));
	const char *variable;

	/* such a one is never kept: whoever wrote it is not us */
	if (outcome != OUTCOME_SUCCESS && outcome != OUTCOME_FAILURE) {
		event_explain_unfit(event, "a result is there with a return code that is not kept");
		return false;
	}
	if (!can_be_owed(handle, call, entry)) {
		event_explain_unfit(event, "a step that opens files is done each time");
		return false;
	}
	if (compiler->reachable && !compiler->reachable(handle, entry)) {
		event_explain_unfit(event, "the program is linked with functions that would ask for it past the cache");
		return false;
	}
	if (!runtime_get()->settings.verify && !replay_allows(handle, entry)) {
		event_explain_unfit(event, "an earlier compile of the handle was not a hit, and this one opens files");
		return false;
	}
	switch (result_applies(entry, runtime_sloppiness(), &variable)) {
	case RESULT_TOO_SLOPPY:
		event_explain_unfit(event, "a result is there that hangs on a time macro, which only processes with "
		                           "NVRTCCACHE_SLOPPINESS=time_macros are given");
		return false;
	case RESULT_VARIABLE_SET:
		event_explain_unfit(event, "a result is there that was made while %s was not set, and now it is",
		                    variable);
		return false;
	default:
		return true;
	}
}

static int attempt_compile(struct handle *handle, const struct call *call, struct attempt *attempt)
{
	const struct settings *settings = &runtime_get()->settings;
	struct event *event = attempt->event;
	bool fits = false;
	struct entry *entry;
	int result;

	do {
		enum counter reason;

		attempt_forget_request(attempt);
		reason = describe(handle, handle->call_count, call, attempt);
		if (reason != COUNTER_NONE) {
			compile_lock_release(&attempt->compile_lock, COMPILE_LOCK_ABANDONED);
			return pass_through(handle, call, reason, event);
		}
		entry = look_up(attempt);
	} while (!entry && (wait_for_others(handle, attempt) || fetch_from_agent(attempt)));
	fetch_judge_agent(attempt, entry);
	event_note_key(event, attempt->key.bytes);
	if (entry) {
		compile_lock_release(&attempt->compile_lock, COMPILE_LOCK_KEPT);
		fits = is_fit(handle, call, entry, event);
	}
	if (!fits) {
		result = compile_for_real(handle, call, attempt, NULL);
	} else if (handle->asks_host && host_cancels(handle, attempt, entry)) {
		result = cancelled(handle, call, event);
	} else if (settings->verify || !answer_call_from(handle, call, attempt, entry)) {
		result = compile_for_real(handle, call, attempt, entry);
	} else {
		result = result_value(entry, RESULT_TAG_RETURN_CODE, handle->library->compiler->internal_error);
	}
	entry_unref(entry);
	return result;
}

/*
 * An attempt is not on the stack: a host may leave its callback by longjmp or an exception, which NVRTC bears, and then
 * the trace stays in the watch, where compiles of other threads find it.
 */
static int call_on_its_way(struct handle *handle, const struct call *call, struct event *event)
{
	const struct runtime *runtime = runtime_get();
	const struct compiler *compiler = handle->library->compiler;
	struct attempt *attempt;
	int result;

	if (runtime->off) {
		return pass_through(handle, call, runtime->off_reason, event);
	}
	if (!handle->keyed) {
		return pass_through(handle, call, handle->reason, event);
	}
	if (linked_callers_pass_by(handle->library->node)) {
		return pass_through(handle, call, COUNTER_BYPASSED_exports, event);
	}
	if (compiler->past != PAST_GROWS && (handle->call_count >= HISTORY_MAX || handle->held_count >= HISTORY_MAX)) {
		return pass_through(handle, call, COUNTER_BYPASSED_history, event);
	}
	if (compiler->sound && !compiler->sound(call)) {
		return pass_through(handle, call, COUNTER_BYPASSED_arguments, event);
	}
	attempt = attempt_new(handle->library, event);
	if (!attempt) {
		return pass_through(handle, call, COUNTER_ERRORS_memory, event);
	}
	result = attempt_compile(handle, call, attempt);
	attempt_free(attempt);
	return result;
}

/* What was asked for is in the event already where it was no hit. */
static void tell(const struct handle *handle, const struct call *call, struct event *event)
{
	const struct library *library = handle->library;
	const struct event_subject subject = {
	    .compiler = library->compiler,
	    .name = handle->name,
	    .major = library->major,
	    .minor = library->minor,
	};

	call_log_write(&subject, event);
	if (timeline_wanted()) {
		if (!event->about.bytes) {
			about_request(handle, call, NULL, &event->about);
		}
		timeline_write(&subject, event);
	}
}

int compile_call(struct handle *handle, const struct call *call)
{
	struct event event;
	int result;

	(void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &handle->cancel_state);
	event_begin(&event, runtime_clock());
	result = call_on_its_way(handle, call, &event);
	event_end(&event, runtime_clock(), result);
	if (log_wanted(LOG_INFO) || timeline_wanted()) {
		tell(handle, call, &event);
	}
	runtime_flush();
	call_journal_write(&event);
	event_free(&event);
	(void)pthread_setcancelstate(handle->cancel_state, NULL);
	return result;
}

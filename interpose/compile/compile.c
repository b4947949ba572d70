/* SPDX-License-Identifier: MIT */
/*
 * A hit and a miss start alike: the call is described and looked up. On a miss both steps are repeated after each wait,
 * because the host may change its environment meanwhile. Only then is it decided whether the entry is served or the
 * real compilation runs.
 */
#include "interpose/compile/compile.h"

#include "cache/replay.h"
#include "interpose/compile/about.h"
#include "interpose/compile/admit.h"
#include "interpose/compile/attempt.h"
#include "interpose/compile/error_text.h"
#include "interpose/compile/library.h"
#include "interpose/compile/log.h"
#include "interpose/compile/look_up.h"
#include "interpose/compile/recorder.h"
#include "interpose/compile/replay.h"
#include "interpose/compile/result.h"
#include "interpose/compile/runtime.h"
#include "interpose/watch/arithmetic.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/*
 * Further compilations of one handle bypass the cache, because each makes the next key longer, a miss after hits
 * repeats all of them, and each hit holds an entry as long as the handle lives. This does not apply to the steps of a
 * link, which have to be performed anyway.
 */
#define HISTORY_MAX 32

/* Set by the worker of `nvrtccache warm` that is this process; in all other programs it stays zero. */
struct replay_order replay_told;
extern struct replay_order REPLAY_SYMBOL __attribute__((alias("replay_told"), visibility("default")));

/* The purpose of a real compilation: its result is cached, or compared with the entry that was found. */
enum purpose { PURPOSE_KEEP, PURPOSE_VERIFY };

/* Returns COUNTER_NONE, or why the call is not looked up. */
static enum counter bypass_reason(const struct handle *handle, const struct call *call)
{
	const struct runtime *runtime = runtime_get();

	if (runtime->off_reason) {
		return runtime->off_reason;
	}
	if (!handle->keyed) {
		return handle->reason;
	}
	if (atomic_load_explicit(&handle->library->compiler->missed->in_part, memory_order_relaxed)) {
		return COUNTER_BYPASSED_exports;
	}
	if (handle->library->compiler->past != PAST_GROWS &&
	    (handle->call_count >= HISTORY_MAX || handle->held_count >= HISTORY_MAX)) {
		return COUNTER_BYPASSED_history;
	}
	if (!handle_call_sound(call)) {
		return COUNTER_BYPASSED_arguments;
	}
	return REPLAY_FORBIDS() && handle->library->compiler->may_write && handle->library->compiler->may_write(call)
	           ? COUNTER_BYPASSED_side_effects
	           : COUNTER_NONE;
}

/* ---- the steps of a call ---- */

/*
 * Runs only the real compilation. If later keys depend on the handle's history, they are then incomplete, and the
 * handle is unkeyed.
 */
static int bypass_call(struct handle *handle, const struct call *call, enum counter reason, struct event *event)
{
	const struct compiler *compiler = handle->library->compiler;
	bool was_served = handle->served != NULL;
	bool is_cancelled = reason == COUNTER_BYPASSED_cancelled;
	int result;

	event_bypass(event, reason);
	if (REPLAY_FORBIDS()) {
		return compiler->internal_error;
	}
	(void)replay(handle);
	if (is_cancelled) {
		/* The real library is told to stop, so that its state is the one that the host expects. */
		compiler->let_answer(handle, ANSWER_STOP);
	}
	result = handle_run(handle, call);
	if (is_cancelled) {
		compiler->let_answer(handle, ANSWER_HOST);
	}
	if (event_needs_about(event)) {
		about_request(event, handle, call, NULL);
	}
	if (compiler->past == PAST_IS_NOTHING) {
		handle_note_independent(handle, call, 0);
		return result;
	}
	if (was_served && handle->base && handle_outcome(compiler, result) == OUTCOME_REFUSED_CALL) {
		replay_take_back(handle);
	}
	handle_unkey(handle, is_cancelled ? COUNTER_BYPASSED_history : reason);
	return result;
}

/* Stores the entry in memory and in the directory. Returns COUNTER_NONE, or why other processes will not find it. */
static enum counter store_result(struct attempt *attempt, struct entry *entry)
{
	const struct runtime *runtime = runtime_get();
	const struct finding *finding = &attempt->finding;
	char text[ERROR_TEXT_BYTES];
	int error;

	if (runtime->memory) {
		memory_put(runtime->memory, finding->fingerprint.low, finding->fingerprint.high, entry);
		attempt->outcome = COMPILE_LOCK_KEPT_HERE;
	}
	if (!runtime->store) {
		return COUNTER_BYPASSED_no_directory;
	}
	error = store_put(runtime->store, entry);
	if (error != 0) {
		event_explain_refusal(attempt->event, "the entry cannot be stored: %s: %s", runtime->settings.directory,
		                      error_text(error, text));
		log_write(LOG_WARNING, "%s", attempt->event->refusal);
		return runtime_error_counter(error, COUNTER_ERRORS_write);
	}
	attempt->outcome = COMPILE_LOCK_KEPT;
	agent_stored(&runtime->agent, finding->key.bytes);
	return COUNTER_NONE;
}

static uint64_t half_of(const struct attempt *attempt)
{
	return digest_half(&runtime_get()->secret, attempt->request.spans);
}

/*
 * Runs the real compilation under the watch and caches the result if that is allowed. `found`: an entry that was not
 * served, or with PURPOSE_VERIFY the one to compare with; or NULL.
 */
static int compile_handle(struct handle *handle, const struct call *call, struct attempt *attempt, struct entry *found,
                          enum purpose purpose)
{
	const struct observed *observed = &attempt->observed;
	struct event *event = attempt->event;
	enum counter doubt, reason;
	struct entry *kept;

	if (replay_told.mode == REPLAY_CHECK) {
		event_end(event, EVENT_NOT_KEPT, COUNTER_NONE, NULL);
		return handle->library->compiler->internal_error;
	}
	doubt = replay(handle) ? COUNTER_NONE : COUNTER_BYPASSED_history;
	attempt_compile(handle, call, doubt, attempt, found);
	event->record.cost_ns = observed->cost_ns;
	if (purpose == PURPOSE_VERIFY) {
		kept = entry_ref(found);
		event_end(event, EVENT_VERIFIED, COUNTER_NONE, NULL);
		admit_compare(handle, attempt, found);
	} else {
		event_count_miss(event);
		about_request(event, handle, call, attempt);
		kept = admit_result(handle, attempt, &reason);
		if (kept) {
			reason = store_result(attempt, kept);
		}
		event_end(event, reason == COUNTER_NONE ? EVENT_STORED : EVENT_NOT_KEPT, reason, kept);
	}
	recorder_call(handle, call, attempt, kept);
	if (handle->library->compiler->past == PAST_IS_NOTHING) {
		handle_note_independent(handle, call, half_of(attempt));
	} else {
		handle_note_done(handle, call, &attempt->finding.key,
		                 observed->doubt == COUNTER_BYPASSED_history ? OUTCOME_OTHER : observed->outcome, kept);
	}
	entry_unref(kept);
	return observed->return_code;
}

/*
 * Called after a miss. Returns true if the call must be described and looked up again, because the host's other threads
 * ran meanwhile. A compilation with a flow callback never waits: the callback is host code, which may wait for another
 * thread or stop the compilation.
 */
static bool wait_for_others(const struct handle *handle, struct attempt *attempt)
{
	const struct settings *settings = &runtime_get()->settings;
	unsigned seconds = settings->wait;
	int64_t start = runtime_clock();
	bool again;

	if (handle->asks_host || settings->recache) {
		seconds = 0;
	}
	again = compile_lock_acquire(&attempt->compile_lock, settings->read_only ? NULL : &runtime_get()->directory,
	                             seconds, attempt->finding.key.bytes);

	if (attempt->compile_lock.waited) {
		event_note_wait(attempt->event, start, runtime_clock());
	}
	return again;
}

/* Describes the call and looks it up, repeatedly if necessary. Returns COUNTER_NONE, or why it cannot be looked up. */
static enum counter find_result(struct handle *handle, const struct call *call, struct attempt *attempt,
                                struct entry **ret_entry)
{
	struct event *event = attempt->event;
	struct entry *entry;

	do {
		enum counter reason;

		request_clear(&attempt->request);
		reason = request_describe(handle, handle->call_count, call, &attempt->request);
		if (reason != COUNTER_NONE) {
			compile_lock_release(&attempt->compile_lock, COMPILE_LOCK_ABANDONED);
			return reason;
		}
		entry = look_up(&attempt->request, event, &attempt->finding);
	} while (!entry && replay_told.mode != REPLAY_CHECK &&
	         (wait_for_others(handle, attempt) || fetch_from_agent(attempt)));
	fetch_judge_agent(attempt, entry);
	if (entry) {
		compile_lock_release(&attempt->compile_lock, COMPILE_LOCK_KEPT);
	}
	memcpy(event->record.key, attempt->finding.key.bytes, sizeof(event->record.key));
	event->record.has_key = true;
	*ret_entry = entry;
	return COUNTER_NONE;
}

/* A hit that cannot be noted in the handle's record, for lack of memory, is compiled like one that is verified. */
static int answer_call(struct handle *handle, const struct call *call, struct attempt *attempt)
{
	struct event *event = attempt->event;
	struct entry *entry = NULL;
	enum counter reason = find_result(handle, call, attempt, &entry);
	int result;

	if (reason != COUNTER_NONE) {
		return bypass_call(handle, call, reason, event);
	}
	if (!entry || !replay_allows(handle, call, entry, event)) {
		result = compile_handle(handle, call, attempt, entry, PURPOSE_KEEP);
	} else if (handle->asks_host && attempt_callback(handle, attempt, entry)) {
		result = bypass_call(handle, call, COUNTER_BYPASSED_cancelled, event);
	} else if (runtime_get()->settings.verify ||
	           !handle_note_served(handle, call, &attempt->finding.key, half_of(attempt), entry)) {
		result = compile_handle(handle, call, attempt, entry, PURPOSE_VERIFY);
	} else {
		result = result_value(entry, RESULT_TAG_RETURN_CODE, handle->library->compiler->internal_error);
		event_end(event, attempt->finding.in_memory ? EVENT_HIT_IN_MEMORY : EVENT_HIT_ON_DISK, COUNTER_NONE,
		          entry);
		recorder_call(handle, call, attempt, entry);
	}
	entry_unref(entry);
	return result;
}

int compile_call(struct handle *handle, const struct call *call)
{
	enum counter reason;
	struct attempt *attempt;
	struct event event;
	int result;

	if (REPLAY_FORBIDS()) {
		arithmetic_restore(replay_told.floating_point);
	}
	/* the library's own opens and reads are cancellation points (handle_enter_real()) */
	(void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &handle->cancel_state);
	event_begin(&event, handle->library->compiler, handle->library, handle->reach, handle->name);
	reason = bypass_reason(handle, call);
	attempt = reason == COUNTER_NONE ? calloc(1, sizeof(*attempt)) : NULL;
	if (attempt) {
		attempt->event = &event;
		result = answer_call(handle, call, attempt);
	} else {
		result = bypass_call(handle, call, reason != COUNTER_NONE ? reason : COUNTER_ERRORS_memory, &event);
	}
	attempt_free(attempt);
	if (event_needs_about(&event) && !event.about.bytes) {
		about_request(&event, handle, call, NULL);
	}
	event_tell(&event, result);
	(void)pthread_setcancelstate(handle->cancel_state, NULL);
	return result;
}

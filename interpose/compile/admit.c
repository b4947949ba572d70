/* SPDX-License-Identifier: MIT */
#include "interpose/compile/admit.h"

#include "cache/error_text.h"
#include "interpose/compile/about.h"
#include "interpose/compile/binding.h"
#include "interpose/compile/event.h"
#include "interpose/compile/fetch.h"
#include "interpose/compile/log.h"
#include "interpose/compile/result.h"
#include "interpose/compile/runtime.h"
#include "interpose/watch/arithmetic.h"
#include "interpose/watch/environment.h"
#include "keygen/conditions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The file it was, where one is known. */
static void name_culprit(struct event *event, const struct trace *trace, uint32_t taints)
{
	const char *path = trace_culprit(trace, taints);

	if (path) {
		event_explain_refusal(event, "the file %s", path);
	}
}

static enum counter taint_reason(struct event *event, const struct trace *trace)
{
	static const struct {
		uint32_t taint;
		enum counter reason;
	} reasons[] = {
	    {TAINT_WRITE | TAINT_PROCESS | TAINT_CHANGED_PLACE | TAINT_UNKNOWN_CALL, COUNTER_BYPASSED_side_effects},
	    {TAINT_OTHER_THREAD, COUNTER_BYPASSED_threads},
	    {TAINT_TOO_NEW, COUNTER_BYPASSED_too_new},
	    {TAINT_UNREADABLE, COUNTER_BYPASSED_files},
	};
	const uint32_t tainted = atomic_load(&trace->tainted);

	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
		if (tainted & reasons[i].taint) {
			name_culprit(event, trace, reasons[i].taint);
			return reasons[i].reason;
		}
	}
	return COUNTER_NONE;
}

static bool has_time_macro(const struct attempt *attempt)
{
	return (atomic_load(&attempt->trace.tainted) & TAINT_TIME_MACRO) != 0;
}

/* B9: a variable that the compiler asked for (no setting of ours), that is set, and that is in no key. */
static const char *unknown_variable(const struct environment *environment, const struct trace *trace)
{
	for (size_t i = 0; i < trace->asked_count; i++) {
		if (!environment_known(environment, trace->asked[i]) && getenv(trace->asked[i])) {
			return trace->asked[i];
		}
	}
	return NULL;
}

/* What no key holds, and what only some processes want to be given, goes with the result. */
static int add_marks(const struct attempt *attempt, struct result *result)
{
	struct stream unset = STREAM_EMPTY;
	int error = -ENOMEM;

	for (size_t i = 0; i < attempt->trace.asked_count; i++) {
		const char *name = attempt->trace.asked[i];

		if (!environment_known(attempt->library->compiler->environment, name)) {
			stream_bytes(&unset, name, strlen(name) + 1);
		}
	}
	if (!unset.failed) {
		error = result_add_unset(result, (const char *)unset.bytes, unset.size);
	}
	if (error == 0 && has_time_macro(attempt)) {
		result_add_sloppy(result);
	}
	stream_free(&unset);
	return error;
}

/* Why the result of this compile must not be kept, or COUNTER_NONE. */
static enum counter refusal(const struct handle *handle, struct attempt *attempt, enum outcome outcome)
{
	const struct compiler *compiler = handle->library->compiler;
	const struct trace *trace = &attempt->trace;
	const char *variable;
	enum counter reason;

	if (outcome != OUTCOME_SUCCESS && outcome != OUTCOME_FAILURE) {
		return COUNTER_BYPASSED_return_code;
	}
	if (attempt->doubt) {
		return attempt->doubt;
	}
	reason = compiler->refuses ? compiler->refuses(handle, attempt) : COUNTER_NONE;
	if (reason != COUNTER_NONE) {
		return reason;
	}
	if (!attempt->watched) {
		return COUNTER_BYPASSED_not_watched;
	}
	/* one that failed may have refused its options before it asked for anything */
	if (compiler->was_seen && !compiler->was_seen(attempt)) {
		return outcome == OUTCOME_FAILURE ? COUNTER_BYPASSED_return_code : COUNTER_BYPASSED_not_watched;
	}
	if (trace->failed) {
		return COUNTER_ERRORS_memory;
	}
	if (attempt->unknown != COUNTER_NONE) {
		return attempt->unknown;
	}
	reason = taint_reason(attempt->event, trace);
	if (reason != COUNTER_NONE) {
		return reason;
	}
	if (runtime_sloppiness() == SLOPPINESS_NONE && has_time_macro(attempt)) {
		name_culprit(attempt->event, trace, TAINT_TIME_MACRO);
		return COUNTER_BYPASSED_time_macros;
	}
	if (arithmetic_missed(watch_arithmetic(atomic_load(&handle->library->watch))) ||
	    ((atomic_load(&trace->tainted) & TAINT_ARITHMETIC) && !roots_arithmetic(&attempt->roots))) {
		return COUNTER_BYPASSED_libraries;
	}
	variable = unknown_variable(compiler->environment, trace);
	if (variable) {
		event_explain_refusal(attempt->event, "the compiler asked for %s, which is set", variable);
		return COUNTER_BYPASSED_environment;
	}
	if (atomic_load(&trace->tainted) & TAINT_TOLD_OTHERWISE) {
		event_explain_refusal(attempt->event,
		                      "the working directory or the environment was another for a moment");
		return COUNTER_BYPASSED_environment;
	}
	if (!identity_confirm(handle->library, attempt->identity)) {
		return COUNTER_BYPASSED_builtins;
	}
	return COUNTER_NONE;
}

static int add_about(struct attempt *attempt, const struct binding *binding, struct result *result)
{
	const struct stream *request = &attempt->event->about;
	struct stream about = STREAM_EMPTY;

	stream_bytes(&about, request->bytes, request->size);
	about_result(attempt, binding, result, &about);
	if (about.failed || request->failed) {
		stream_free(&about);
		return -ENOMEM;
	}
	result_add_about(result, &about);
	return 0;
}

static int build_entry(const struct handle *handle, struct attempt *attempt, int return_code, struct entry **ret_entry)
{
	const struct compiler *compiler = handle->library->compiler;
	struct binding binding = {0};
	struct stream conditions = STREAM_EMPTY;
	struct result result = {.count = 0};
	int error = result_collect(handle, return_code, &result);

	if (error != 0) {
		return error;
	}
	error = compiler->outcome(return_code) == OUTCOME_SUCCESS || compiler->explains_failure(handle, &result)
	            ? 0
	            : -EAGAIN;
	/* first: what binds goes out of the trace, and with it what makes a result sloppy */
	if (error == 0) {
		error = add_marks(attempt, &result);
	}
	if (error == 0) {
		error = binding_decide(attempt, &result, &binding);
	}
	if (error == 0) {
		error = conditions_build(&binding.input, &conditions);
	}
	if (error == 0) {
		error = add_about(attempt, &binding, &result);
	}
	if (error == 0) {
		error = entry_build(attempt->key.bytes, attempt->cost_ns, conditions.bytes, conditions.size,
		                    result.sections, result.count, ret_entry);
	}
	binding_free(&binding);
	stream_free(&conditions);
	result_free(&result);
	return error;
}

/* A result of no process, or of this one alone as long as that has it in memory. */
static void not_stored(struct attempt *attempt, enum counter reason)
{
	counters_not_kept(attempt->library->compiler->share, reason);
	event_set(attempt->event, EVENT_NOT_KEPT, reason);
}

static void store(struct attempt *attempt, struct entry *entry)
{
	const struct runtime *runtime = runtime_get();
	char text[ERROR_TEXT_BYTES];
	int error;

	if (runtime->memory) {
		memory_put(runtime->memory, attempt->fingerprint.low, attempt->fingerprint.high, entry);
		attempt->outcome = COMPILE_LOCK_KEPT_HERE;
	}
	if (!runtime->store) {
		not_stored(attempt, COUNTER_BYPASSED_no_directory);
		return;
	}
	error = store_put(runtime->store, entry);
	if (error == 0) {
		attempt->outcome = COMPILE_LOCK_KEPT;
		runtime_count_share(attempt->library->compiler->share, COUNTER_TOTAL_stores, 1);
		runtime_count(COUNTER_TOTAL_evictions, store_take_evictions(runtime->store));
		event_set(attempt->event, EVENT_STORED, COUNTER_NONE);
		fetch_tell_agent(attempt);
	} else {
		log_write(LOG_WARNING, "cannot store a result: %s: %s", runtime->settings.directory,
		          error_text(error, text));
		not_stored(attempt, runtime_error_counter(error, COUNTER_ERRORS_write));
	}
}

static enum counter build_error_reason(int error)
{
	switch (error) {
	case -EAGAIN:
		return COUNTER_BYPASSED_return_code;
	case -EINVAL:
		return COUNTER_BYPASSED_files;
	case -ENOMEM:
		return COUNTER_ERRORS_memory;
	default:
		return COUNTER_ERRORS_internal;
	}
}

static void explain_code(const struct attempt *attempt, int return_code)
{
	const struct compiler *compiler = attempt->library->compiler;
	bool known = return_code >= 0 && (size_t)return_code < compiler->code_count;

	event_explain_refusal(attempt->event, "return code %d%s%s", return_code, known ? ", " : "",
	                      known ? compiler->codes[return_code] : "");
}

struct entry *admit_result(struct handle *handle, const struct call *call, struct attempt *attempt, int return_code)
{
	enum outcome outcome = handle->library->compiler->outcome(return_code);
	struct entry *entry = NULL;
	enum counter reason;
	int error = 0;

	attempt->outcome = outcome == OUTCOME_NO_MEMORY ? COMPILE_LOCK_ABANDONED : COMPILE_LOCK_NOT_KEPT;
	about_request(handle, call, attempt, &attempt->event->about);
	reason = refusal(handle, attempt, outcome);
	if (reason == COUNTER_NONE) {
		error = build_entry(handle, attempt, return_code, &entry);
		reason = error == 0 ? COUNTER_NONE : build_error_reason(error);
	}
	if (reason == COUNTER_BYPASSED_return_code) {
		explain_code(attempt, return_code);
	}
	if (reason != COUNTER_NONE) {
		not_stored(attempt, reason);
		return NULL;
	}
	event_note_entry(attempt->event, entry);
	store(attempt, entry);
	return entry;
}

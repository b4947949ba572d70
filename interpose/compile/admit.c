/* SPDX-License-Identifier: MIT */
/*
 * The checks run from the cheapest and most general reason to the most specific one, and the first one that applies is
 * reported. The getters are read after the checks of the observation, because some refusals depend on what they return.
 */
#include "interpose/compile/admit.h"

#include "cache/digits.h"
#include "interpose/compile/about.h"
#include "interpose/compile/binding.h"
#include "interpose/compile/companion.h"
#include "interpose/compile/error_text.h"
#include "interpose/compile/log.h"
#include "interpose/compile/result.h"
#include "interpose/compile/runtime.h"
#include "interpose/watch/arithmetic.h"
#include "interpose/watch/environment.h"
#include "keygen/dependencies_build.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Returns the reason of the first taint, and records the file that caused it, if it is known, for the event. */
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
	    {TAINT_TIME_MACRO, COUNTER_BYPASSED_time_macros},
	};
	const bool sloppy = (runtime_get()->settings.tolerated & SLOPPINESS_TIME_MACROS) != 0;
	const uint32_t tainted = atomic_load(&trace->tainted) & ~(sloppy ? (uint32_t)TAINT_TIME_MACRO : 0);

	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
		const char *path;

		if (!(tainted & reasons[i].taint)) {
			continue;
		}
		path = trace_culprit(trace, reasons[i].taint);
		if (path) {
			event_explain_refusal(event, "the file %s", path);
		}
		return reasons[i].reason;
	}
	return COUNTER_NONE;
}

/*
 * Returns a variable that the compiler read (not a setting of this library), that is set, and that is in no key; or
 * NULL.
 */
static const char *unknown_variable(const struct environment *environment, const struct trace *trace)
{
	for (const char *name = NULL; (name = trace_next_asked(trace, name));) {
		if (!environment_known(environment, name) && environment_get(name)) {
			return name;
		}
	}
	return NULL;
}

/* Adds the names of unset variables, which a look-up must check because the key does not cover them. */
static int add_unset(const struct environment *environment, const struct trace *trace, struct result *result)
{
	struct stream unset = STREAM_EMPTY;

	for (const char *name = NULL; (name = trace_next_asked(trace, name));) {
		if (!environment_known(environment, name)) {
			stream_bytes(&unset, name, strlen(name) + 1);
		}
	}
	if (unset.failed) {
		stream_free(&unset);
		return -ENOMEM;
	}
	if (unset.size > 0) {
		result_add(result, RESULT_TAG_UNSET, 0, unset.bytes, unset.size);
	}
	return 0;
}

/*
 * Returns true if the watch saw the calls that every such compilation makes. A compilation that failed may have
 * rejected its options before those calls.
 */
static bool was_seen(const struct request *request, const struct trace *trace)
{
	return (!(request->traits & REQUEST_OPENS_FILES) || trace->count > 0) &&
	       (!(request->traits & REQUEST_ASKS_VARIABLES) || trace->asked.size > 0);
}

/* Checks what the watch observed. Returns COUNTER_NONE, or why the result must not be cached. */
static enum counter observation_reason(const struct request *request, const struct observed *observed,
                                       struct event *event)
{
	const struct trace *trace = &observed->trace;

	if (!observed->watched) {
		return COUNTER_BYPASSED_not_watched;
	}
	if (!was_seen(request, trace)) {
		return observed->outcome == OUTCOME_FAILURE ? COUNTER_BYPASSED_return_code
		                                            : COUNTER_BYPASSED_not_watched;
	}
	if (trace->failed) {
		return COUNTER_ERRORS_memory;
	}
	if (observed->unknown != COUNTER_NONE) {
		return observed->unknown;
	}
	return taint_reason(event, trace);
}

/*
 * Checks that the state of the process was that of the request. Returns COUNTER_NONE, or why the result must not be
 * cached.
 */
static enum counter surroundings_reason(const struct request *request, const struct trace *trace, struct event *event)
{
	struct library *library = request->library;
	const char *variable, *unreached = atomic_load(&library->compiler->missed->module);

	if (unreached) { /* it may have changed the state of the library, or of a handle that it got from the host */
		event_explain_refusal(event, "the module %s calls the compiler without the cache", unreached);
		return COUNTER_BYPASSED_exports;
	}
	if (arithmetic_missed(watch_arithmetic(atomic_load(&library->watch))) ||
	    ((atomic_load(&trace->tainted) & TAINT_ARITHMETIC) && !roots_arithmetic(&request->roots))) {
		return COUNTER_BYPASSED_libraries;
	}
	variable = unknown_variable(library->compiler->environment, trace);
	if (variable) {
		event_explain_refusal(event, "the compiler read the variable %s, which is not in the key", variable);
		return COUNTER_BYPASSED_environment;
	}
	if (atomic_load(&trace->tainted) & TAINT_TOLD_OTHERWISE) {
		event_explain_refusal(
		    event, "the working directory, the environment or the machine changed during the compilation");
		return COUNTER_BYPASSED_environment;
	}
	return library->compiler->companion && !companion_confirm(library) ? COUNTER_BYPASSED_builtins : COUNTER_NONE;
}

/* Returns why the result must not be cached, or COUNTER_NONE. */
static enum counter refusal_reason(const struct handle *handle, const struct attempt *attempt)
{
	const struct compiler *compiler = handle->library->compiler;
	const struct request *request = &attempt->request;
	const struct observed *observed = &attempt->observed;
	enum counter reason;

	/* other codes report a condition of the moment (no memory, a cancelled compilation), not of the input */
	if (observed->outcome != OUTCOME_SUCCESS && observed->outcome != OUTCOME_FAILURE) {
		return COUNTER_BYPASSED_return_code;
	}
	if (observed->doubt) {
		return observed->doubt;
	}
	reason = compiler->refuses ? compiler->refuses(handle, request, attempt->event) : COUNTER_NONE;
	if (reason == COUNTER_NONE) {
		reason = observation_reason(request, observed, attempt->event);
	}
	return reason == COUNTER_NONE ? surroundings_reason(request, &observed->trace, attempt->event) : reason;
}

/*
 * Adds the section for people, and the mark of a sloppy result: only processes that allow it are served the result, and
 * it is not sent to other nodes.
 */
static int add_about(const struct attempt *attempt, const struct binding *binding, struct result *result)
{
	const struct stream *request = &attempt->event->about;
	struct stream about = STREAM_EMPTY;

	if (binding->sloppiness != 0) {
		result_add(result, RESULT_TAG_SLOPPY, (int)binding->sloppiness, NULL, 0);
	}
	stream_bytes(&about, request->bytes, request->size);
	about_result(attempt, binding, result, &about);
	if (about.failed || request->failed) {
		stream_free(&about);
		return -ENOMEM;
	}
	result_add(result, RESULT_TAG_ABOUT, 0, about.bytes, about.size);
	return 0;
}

/* -EAGAIN: the log does not explain the failure; -EINVAL: dependencies cannot express the trace. */
static int build_entry(const struct handle *handle, struct attempt *attempt, struct entry **ret_entry)
{
	const struct compiler *compiler = handle->library->compiler;
	const struct request *request = &attempt->request;
	struct observed *observed = &attempt->observed;
	struct binding binding = {0};
	struct stream dependencies = STREAM_EMPTY;
	struct result result = {.count = 0};
	int error = result_collect(handle, observed->return_code, &result);

	if (error == 0 && observed->outcome != OUTCOME_SUCCESS && !compiler->explains_failure(handle, &result)) {
		error = -EAGAIN;
	}
	error = error ? error : add_unset(compiler->environment, &observed->trace, &result);
	error = error ? error : binding_decide(request, observed, &result, &binding);
	error = error ? error : binding_enter(&binding, request, observed);
	error = error ? error : dependencies_build(&binding.input, &dependencies);
	error = error ? error : add_about(attempt, &binding, &result);
	error = error ? error
	              : entry_build(attempt->finding.key.bytes, observed->cost_ns, dependencies.bytes,
	                            dependencies.size, result.sections, result.count, ret_entry);
	if (error == 0 && binding.short_lived) {
		entry_set_short_lived(*ret_entry);
	}
	free(binding.literal);
	stream_free(&dependencies);
	result_free(&result);
	return error;
}

struct entry *admit_result(const struct handle *handle, struct attempt *attempt, enum counter *ret_reason)
{
	const struct observed *observed = &attempt->observed;
	struct entry *entry = NULL;
	enum counter reason = refusal_reason(handle, attempt);

	/* if memory ran out here, waiters for this key may try themselves; any other failure would be theirs too */
	attempt->outcome = observed->outcome == OUTCOME_NO_MEMORY ? COMPILE_LOCK_ABANDONED : COMPILE_LOCK_NOT_KEPT;
	if (reason == COUNTER_NONE) {
		int error = build_entry(handle, attempt, &entry);

		reason = error == 0         ? COUNTER_NONE
		         : error == -EAGAIN ? COUNTER_BYPASSED_return_code
		         : error == -EINVAL ? COUNTER_BYPASSED_files
		                            : runtime_error_counter(error, COUNTER_ERRORS_internal);
	}
	if (reason == COUNTER_BYPASSED_return_code) {
		event_explain_refusal(attempt->event, "return code %d", observed->return_code);
	}
	*ret_reason = reason;
	return entry;
}

/* ---- NVRTCCACHE_VERIFY ---- */

/*
 * Counts and logs a difference. Encoded artifacts may differ only by a module id, and artifacts with addresses differ
 * between processes. For these a wrong hit looks like a correct one, so they count as not comparable.
 */
static void report_difference(const struct attempt *attempt, const struct entry *expected, enum results results,
                              const char *what)
{
	const struct event *event = attempt->event;
	char digits[DIGITS_BYTES(ENTRY_KEY_BYTES)];

	if (results == RESULTS_HIDDEN || (attempt->request.traits & REQUEST_VARIES) ||
	    (result_sloppiness(expected) & SLOPPINESS_DEBUG_PATHS)) {
		counters_add(COUNTER_TOTAL_verify_uncompared, 1);
		log_write(LOG_INFO, "verify: %s cannot be compared: the output of %s varies", what,
		          event->compiler->title);
		return;
	}
	counters_add(COUNTER_ERRORS_mismatch, 1);
	/*
	 * Logged as an error, not as a warning, because a wrong hit breaks the guarantee of this library. The name
	 * comes last, because it may be long, and lines are truncated.
	 */
	log_write(LOG_ERROR, "verify: mismatch: the cached %s differs from that of %s; key %s, program %s", what,
	          event->compiler->title, digits_spell(entry_info(expected)->key, ENTRY_KEY_BYTES, digits),
	          event->program ? event->program : "without a name");
}

/*
 * Returns true if the compilation must give what the entry has. It need not after an option with process-wide effect,
 * because a hit is the result of the compilation alone, nor if a header was edited between hit and compilation.
 */
static bool must_be_equal(const struct handle *handle, const struct attempt *attempt, const struct entry *expected)
{
	const struct compiler *compiler = handle->library->compiler;
	enum counter reason =
	    compiler->refuses ? compiler->refuses(handle, &attempt->request, attempt->event) : COUNTER_NONE;

	return reason != COUNTER_BYPASSED_sticky_options && reason != COUNTER_BYPASSED_uncleared_options &&
	       result_holds(expected, &attempt->request.roots);
}

void admit_compare(const struct handle *handle, const struct attempt *attempt, const struct entry *expected)
{
	struct result result = {.count = 0};
	struct entry *given = NULL;
	const char *what = "";
	char text[ERROR_TEXT_BYTES];
	int error = result_collect(handle, attempt->observed.return_code, &result);

	error =
	    error ? error : entry_build(entry_info(expected)->key, 0, NULL, 0, result.sections, result.count, &given);
	if (error == 0) {
		enum results results = result_compare(handle->library->compiler, expected, given, &what);

		if (results != RESULTS_ALIKE && must_be_equal(handle, attempt, expected)) {
			report_difference(attempt, expected, results, what);
		}
	} else {
		counters_add(error == -ENOMEM ? COUNTER_ERRORS_memory : COUNTER_ERRORS_internal, 1);
		log_write(LOG_WARNING, "verify: a hit could not be compared: %s", error_text(error, text));
	}
	entry_unref(given);
	result_free(&result);
}

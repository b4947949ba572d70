/* SPDX-License-Identifier: MIT */
#include "interpose/keep.h"

#include "interpose/arithmetic.h"
#include "interpose/binding.h"
#include "interpose/environment.h"
#include "interpose/lingering.h"
#include "interpose/log.h"
#include "interpose/pch.h"
#include "interpose/result.h"
#include "interpose/runtime.h"
#include "interpose/twice.h"
#include "keygen/conditions.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define KEPT (-1)

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

void keep_begin(struct attempt *attempt, struct library *library, bool watched)
{
	attempt->told = snapshot_take();
	if (!attempt->told) {
		attempt->doubt = COUNTER_ERRORS_memory + 1;
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

void keep_end(struct attempt *attempt, struct library *library)
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

void keep_abandon(struct attempt *attempt)
{
	if (attempt->watched) {
		watch_end(&attempt->trace);
	}
}

static int taint_reason(uint32_t tainted)
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

	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
		if (tainted & reasons[i].taint) {
			return (int)reasons[i].reason;
		}
	}
	return KEPT;
}

static bool has_time_macro(const struct attempt *attempt)
{
	return (attempt->findings & SCAN_TIME) || (atomic_load(&attempt->trace.tainted) & TAINT_TIME_MACRO);
}

/* B9: a variable that is set, and that is in no key. */
static const char *unknown_variable(const struct trace *trace)
{
	for (size_t i = 0; i < trace->asked_count; i++) {
		if (!environment_known(trace->asked[i]) && getenv(trace->asked[i])) {
			return trace->asked[i];
		}
	}
	return NULL;
}

/* What no key holds, and what only some processes want to be given, goes with the result. */
static int mark(const struct attempt *attempt, struct result *result)
{
	struct stream unset = STREAM_EMPTY;
	int error = -ENOMEM;

	for (size_t i = 0; i < attempt->trace.asked_count; i++) {
		const char *name = attempt->trace.asked[i];

		if (!environment_known(name)) {
			stream_bytes(&unset, name, strlen(name) + 1);
		}
	}
	if (!unset.failed) {
		error = result_mark(result, (const char *)unset.bytes, unset.size, has_time_macro(attempt));
	}
	stream_free(&unset);
	return error;
}

/* Why the result of this compile must not be kept, or KEPT. */
static int refusal(struct program *program, struct attempt *attempt, int return_code)
{
	const struct trace *trace = &attempt->trace;
	const char *variable;
	int reason;

	if (return_code != RESULT_SUCCESS && return_code != RESULT_COMPILATION) {
		return COUNTER_BYPASSED_return_code;
	}
	if (attempt->doubt) {
		return attempt->doubt - 1;
	}
	if (attempt->options.tells_process) {
		return COUNTER_BYPASSED_history;
	}
	if (lingering_spoils(program->library, &attempt->options)) {
		return COUNTER_BYPASSED_lingering_options;
	}
	if (lingering_may_spoil(program->library, &attempt->options)) {
		return COUNTER_BYPASSED_uncleared_options;
	}
	if (!attempt->watched || trace->count == 0) {
		return COUNTER_BYPASSED_not_watched;
	}
	if (trace->failed) {
		return COUNTER_ERRORS_memory;
	}
	if (attempt->pch_error != 0) {
		return COUNTER_BYPASSED_precompiled_header;
	}
	reason = taint_reason(atomic_load(&trace->tainted));
	if (reason != KEPT) {
		return reason;
	}
	if (!runtime_get()->settings.sloppy_time_macros && has_time_macro(attempt)) {
		return COUNTER_BYPASSED_time_macros;
	}
	if (arithmetic_missed(watch_arithmetic(atomic_load(&program->library->watch))) ||
	    ((atomic_load(&trace->tainted) & TAINT_ARITHMETIC) && !roots_arithmetic(&attempt->roots))) {
		return COUNTER_BYPASSED_libraries;
	}
	variable = unknown_variable(trace);
	if (variable) {
		log_write(LOG_INFO, "the compiler asked for %s, which is set", variable);
		return COUNTER_BYPASSED_environment;
	}
	if (atomic_load(&trace->tainted) & TAINT_TOLD_OTHERWISE) {
		log_write(LOG_INFO, "the working directory or the environment was another for a moment");
		return COUNTER_BYPASSED_environment;
	}
	if (!identity_confirm(program->library, attempt->identity)) {
		return COUNTER_BYPASSED_builtins;
	}
	return KEPT;
}

static int build_entry(struct program *program, struct attempt *attempt, int return_code, struct entry **ret_entry)
{
	struct binding binding = {0};
	struct stream conditions = STREAM_EMPTY;
	struct result result = {.count = 0};
	int error = result_collect(program, return_code, &result);

	if (error != 0) {
		return error;
	}
	error = return_code == RESULT_SUCCESS || result_explains_failure(&result) ? 0 : -EAGAIN;
	if (error == 0) {
		error = binding_decide(program, attempt, &result, &binding);
	}
	if (error == 0) {
		error = mark(attempt, &result);
	}
	if (error == 0) {
		error = conditions_build(&binding.input, &conditions);
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

static void store(struct attempt *attempt, struct entry *entry)
{
	const struct runtime *runtime = runtime_get();
	int error;

	if (runtime->memory) {
		memory_put(runtime->memory, attempt->fingerprint.low, attempt->fingerprint.high, entry);
		attempt->outcome = FLIGHT_KEPT_HERE;
	}
	if (!runtime->store) {
		runtime_count(COUNTER_BYPASSED_no_directory, 1);
		return;
	}
	error = store_put(runtime->store, entry);
	if (error == 0) {
		attempt->outcome = FLIGHT_KEPT;
		runtime_count(COUNTER_TOTAL_stores, 1);
		runtime_count(COUNTER_TOTAL_evictions, store_take_evictions(runtime->store));
		log_write(LOG_INFO, "stored, %zu bytes", (size_t)entry_info(entry)->total_size);
	} else {
		runtime_count_error(error, true);
		log_write(LOG_WARNING, "cannot store a result: error %d", -error);
	}
}

void keep_result(struct program *program, struct attempt *attempt, int return_code)
{
	struct entry *entry = NULL;
	int reason, error;

	attempt->outcome = return_code == RESULT_OUT_OF_MEMORY ? FLIGHT_ABANDONED : FLIGHT_NOT_KEPT;
	reason = refusal(program, attempt, return_code);
	if (reason != KEPT) {
		runtime_count((enum counter)reason, 1);
		log_write(LOG_INFO, "not kept: %s", counter_name((enum counter)reason));
		return;
	}
	error = build_entry(program, attempt, return_code, &entry);
	if (error == 0) {
		store(attempt, entry);
		entry_unref(entry);
		return;
	}
	if (error == -EAGAIN) {
		reason = COUNTER_BYPASSED_return_code;
	} else if (error == -EINVAL) {
		reason = COUNTER_BYPASSED_files;
	} else {
		reason = error == -ENOMEM ? COUNTER_ERRORS_memory : COUNTER_ERRORS_internal;
	}
	runtime_count((enum counter)reason, 1);
	log_write(LOG_INFO, "not kept: %s (error %d)", counter_name((enum counter)reason), -error);
}

/* A header that was edited between the hit and the compile makes a difference that is nobody's mistake. */
static bool still_holds(const struct attempt *attempt, const struct entry *entry)
{
	size_t size;
	const void *conditions = entry_conditions(entry, &size);

	return size == 0 || conditions_hold(conditions, size, &attempt->roots, NULL, 0);
}

static void complain(const struct program *program, const struct entry *expected, const char *what)
{
	const uint8_t *key = entry_info(expected)->key;
	char digits[2 * ENTRY_KEY_BYTES + 1];

	for (size_t i = 0; i < ENTRY_KEY_BYTES; i++) {
		(void)snprintf(digits + 2 * i, 3, "%02x", key[i]);
	}
	/* The name comes last: it may be long, and lines are cut. */
	log_write(LOG_ERROR, "verify: a hit would have given another %s than NVRTC; key %s, program %s", what, digits,
	          program->name ? program->name : "without a name");
}

/* Counts and logs a difference, where it is one. */
static void tell_difference(const struct program *program, const struct attempt *attempt, int option_count,
                            const char *const *options, const struct entry *expected, const struct entry *given)
{
	const char *what = "";
	enum results results = result_compare(expected, given, &what);

	/* What a process makes after an option that lingers is no measure of a hit, which is what the compile alone
	 * gives. */
	if (results == RESULTS_ALIKE || lingering_spoils(program->library, &attempt->options) ||
	    lingering_may_spoil(program->library, &attempt->options) || !still_holds(attempt, expected)) {
		return;
	}
	if (results == RESULTS_HIDDEN &&
	    (attempt->options.pch || !twice_alike(program, option_count, options, given))) {
		runtime_count(COUNTER_TOTAL_verify_uncompared, 1);
		log_write(LOG_INFO, "verify: %s cannot be compared: NVRTC gives another each time", what);
		return;
	}
	runtime_count(COUNTER_ERRORS_mismatch, 1);
	complain(program, expected, what);
}

void keep_compare(struct program *program, const struct attempt *attempt, int option_count, const char *const *options,
                  int return_code, const struct entry *expected)
{
	struct result result = {.count = 0};
	struct entry *given = NULL;
	int error = result_collect(program, return_code, &result);

	if (error == 0) {
		error = entry_build(entry_info(expected)->key, 0, NULL, 0, result.sections, result.count, &given);
	}
	if (error == 0) {
		tell_difference(program, attempt, option_count, options, expected, given);
	} else {
		runtime_count(error == -ENOMEM ? COUNTER_ERRORS_memory : COUNTER_ERRORS_internal, 1);
		log_write(LOG_WARNING, "verify: a hit could not be compared: error %d", -error);
	}
	entry_unref(given);
	result_free(&result);
}

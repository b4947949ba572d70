/* SPDX-License-Identifier: MIT */
#include "interpose/compile/verify.h"

#include "cache/digits.h"
#include "cache/error_text.h"
#include "interpose/compile/log.h"
#include "interpose/compile/result.h"
#include "interpose/compile/runtime.h"

#include <errno.h>

/*
 * Returns true if an option with process-wide effect was used before. The compilation then differs from a hit, which is
 * the result of the compilation alone.
 */
static bool is_spoiled(const struct handle *handle, const struct attempt *attempt)
{
	const struct compiler *compiler = handle->library->compiler;
	enum counter reason =
	    compiler->refuses ? compiler->refuses(handle, &attempt->request, attempt->event) : COUNTER_NONE;

	return reason == COUNTER_BYPASSED_sticky_options || reason == COUNTER_BYPASSED_uncleared_options;
}

/* Logged as an error, not as a warning, because a wrong hit breaks the guarantee of this library. */
static void log_mismatch(const struct handle *handle, const struct entry *expected, const char *what)
{
	char digits[DIGITS_BYTES(ENTRY_KEY_BYTES)];

	/* The name comes last, because it may be long, and lines are truncated. */
	log_write(LOG_ERROR, "verify: mismatch: the cached %s differs from that of %s; key %s, program %s", what,
	          handle->library->compiler->title, digits_spell(entry_info(expected)->key, ENTRY_KEY_BYTES, digits),
	          handle->name ? handle->name : "without a name");
}

/*
 * Counts and logs a difference. Encoded artifacts may differ only by a module id, and artifacts with addresses differ
 * between processes. For these a wrong hit looks like a correct one, so they count as not comparable.
 */
static void report_difference(const struct handle *handle, const struct attempt *attempt, const struct entry *expected,
                              const struct entry *given)
{
	const struct request *request = &attempt->request;
	const struct compiler *compiler = handle->library->compiler;
	const char *what = "";
	enum results results = result_compare(compiler, expected, given, &what);

	if (results == RESULTS_ALIKE) {
		return;
	}
	/* a header that was edited between hit and compilation causes a difference that is no error */
	if (is_spoiled(handle, attempt) || !entry_holds(expected, &request->roots)) {
		return;
	}
	if (results == RESULTS_HIDDEN || (request->traits & REQUEST_VARIES) ||
	    (result_sloppiness(expected) & SLOPPINESS_DEBUG_PATHS)) {
		counters_add(COUNTER_TOTAL_verify_uncompared, 1);
		log_write(LOG_INFO, "verify: %s cannot be compared: the output of %s varies", what, compiler->title);
		return;
	}
	counters_add(COUNTER_ERRORS_mismatch, 1);
	log_mismatch(handle, expected, what);
}

void verify_compare(const struct handle *handle, const struct attempt *attempt, const struct entry *expected)
{
	struct result result = {.count = 0};
	struct entry *given = NULL;
	char text[ERROR_TEXT_BYTES];
	int error = result_collect(handle, attempt->observed.return_code, &result);

	if (error == 0) {
		error = entry_build(entry_info(expected)->key, 0, NULL, 0, result.sections, result.count, &given);
	}
	if (error == 0) {
		report_difference(handle, attempt, expected, given);
	} else {
		counters_add(error == -ENOMEM ? COUNTER_ERRORS_memory : COUNTER_ERRORS_internal, 1);
		log_write(LOG_WARNING, "verify: a hit could not be compared: %s", error_text(error, text));
	}
	entry_unref(given);
	result_free(&result);
}

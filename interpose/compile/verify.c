/* SPDX-License-Identifier: MIT */
#include "interpose/compile/verify.h"

#include "cache/digits.h"
#include "cache/error_text.h"
#include "interpose/compile/log.h"
#include "interpose/compile/result.h"
#include "interpose/compile/runtime.h"

#include <errno.h>

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
	       entry_holds(expected, &attempt->request.roots);
}

void verify_compare(const struct handle *handle, const struct attempt *attempt, const struct entry *expected)
{
	struct result result = {.count = 0};
	struct entry *given = NULL;
	const char *what = "";
	char text[ERROR_TEXT_BYTES];
	int error = result_collect(handle, attempt->observed.return_code, &result);

	if (error == 0) {
		error = entry_build(entry_info(expected)->key, 0, NULL, 0, result.sections, result.count, &given);
	}
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

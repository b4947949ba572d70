/* SPDX-License-Identifier: MIT */
#include "interpose/compile/verify.h"

#include "cache/digits.h"
#include "cache/error_text.h"
#include "interpose/compile/log.h"
#include "interpose/compile/result.h"
#include "interpose/compile/runtime.h"
#include "interpose/compile/twice.h"
#include "keygen/conditions.h"

#include <errno.h>

/* A header that was edited between the hit and the compile makes a difference that is nobody's mistake. */
static bool still_holds(const struct attempt *attempt, const struct entry *entry)
{
	size_t size;
	const void *conditions = entry_conditions(entry, &size);

	return size == 0 || conditions_hold(conditions, size, &attempt->roots, NULL, 0);
}

static void complain(const struct handle *handle, const struct entry *expected, const char *what)
{
	char digits[DIGITS_BYTES(ENTRY_KEY_BYTES)];

	/* The name comes last: it may be long, and lines are cut. */
	log_write(LOG_ERROR, "verify: a hit would have given another %s than %s; key %s, program %s", what,
	          handle->library->compiler->title, digits_spell(entry_info(expected)->key, ENTRY_KEY_BYTES, digits),
	          handle->name ? handle->name : "without a name");
}

/* Counts and logs a difference, where it is one. */
static void tell_difference(const struct handle *handle, const struct attempt *attempt, const struct call *call,
                            const struct entry *expected, const struct entry *given)
{
	const struct compiler *compiler = handle->library->compiler;
	const char *what = "";
	enum results results = result_compare(compiler, expected, given, &what);
	enum twice again = TWICE_UNASKED;
	unsigned doubts;

	if (results == RESULTS_ALIKE) {
		return;
	}
	/* What a process makes after a sticky option is no measure of a hit, which is what the compile alone gives. */
	doubts = compiler->doubts ? compiler->doubts(handle, attempt) : 0;
	if ((doubts & DOUBT_SPOILED) || !still_holds(attempt, expected)) {
		return;
	}
	if (!(doubts & DOUBT_ONCE)) {
		again = twice_ask(handle, call, expected, given, results);
	}
	if (again == TWICE_EXPECTED) {
		return;
	}
	if (again == TWICE_OTHER || (again == TWICE_UNASKED && results == RESULTS_HIDDEN) || (doubts & DOUBT_ADDRESS)) {
		runtime_count(COUNTER_TOTAL_verify_uncompared, 1);
		log_write(LOG_INFO, "verify: %s cannot be compared: %s does not always give the same", what,
		          compiler->title);
		return;
	}
	runtime_count(COUNTER_ERRORS_mismatch, 1);
	complain(handle, expected, what);
}

void verify_compare(const struct handle *handle, const struct attempt *attempt, const struct call *call,
                    int return_code, const struct entry *expected)
{
	struct result result = {.count = 0};
	struct entry *given = NULL;
	char text[ERROR_TEXT_BYTES];
	int error = result_collect(handle, return_code, &result);

	if (error == 0) {
		error = entry_build(entry_info(expected)->key, 0, NULL, 0, result.sections, result.count, &given);
	}
	if (error == 0) {
		tell_difference(handle, attempt, call, expected, given);
	} else {
		runtime_count(error == -ENOMEM ? COUNTER_ERRORS_memory : COUNTER_ERRORS_internal, 1);
		log_write(LOG_WARNING, "verify: a hit could not be compared: %s", error_text(error, text));
	}
	entry_unref(given);
	result_free(&result);
}

/* SPDX-License-Identifier: MIT */
#include "interpose/compile/verify.h"

#include "interpose/compile/log.h"
#include "interpose/compile/result.h"
#include "interpose/compile/runtime.h"
#include "interpose/compile/twice.h"
#include "interpose/nvrtc/sticky.h"
#include "keygen/conditions.h"

#include <errno.h>
#include <stdio.h>

/* A header that was edited between the hit and the compile makes a difference that is nobody's mistake. */
static bool still_holds(const struct attempt *attempt, const struct entry *entry)
{
	size_t size;
	const void *conditions = entry_conditions(entry, &size);

	return size == 0 || conditions_hold(conditions, size, &attempt->roots, NULL, 0);
}

/*
 * Split compilation for new architectures (seen with 12.9 and 13.0, sm_100) gives one of two PTX. Which, hangs on where
 * the loader and malloc put things: it is the same again through a process, and without address randomisation in all.
 */
static bool goes_by_address(const struct attempt *attempt)
{
	return (attempt->options.lingers & LINGERS_SPLIT) != 0;
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
	enum twice again = TWICE_UNASKED;

	/* What a process makes after an option that lingers is no measure of a hit, which is what the compile alone
	 * gives. */
	if (results == RESULTS_ALIKE || lingering_spoils(program->library, &attempt->options) ||
	    lingering_may_spoil(program->library, &attempt->options) || !still_holds(attempt, expected)) {
		return;
	}
	/* Another compile would go on from the first one's precompiled header. */
	if (!attempt->options.pch) {
		again = twice_ask(program, option_count, options, expected, given, results);
	}
	if (again == TWICE_EXPECTED) {
		return;
	}
	if (again == TWICE_OTHER || (again == TWICE_UNASKED && results == RESULTS_HIDDEN) || goes_by_address(attempt)) {
		runtime_count(COUNTER_TOTAL_verify_uncompared, 1);
		log_write(LOG_INFO, "verify: %s cannot be compared: NVRTC does not always give the same", what);
		return;
	}
	runtime_count(COUNTER_ERRORS_mismatch, 1);
	complain(program, expected, what);
}

void verify_compare(struct program *program, const struct attempt *attempt, int option_count,
                    const char *const *options, int return_code, const struct entry *expected)
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

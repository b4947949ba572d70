/* SPDX-License-Identifier: MIT */
#include "interpose/compile/twice.h"

#include "keygen/stamp.h"

#include <errno.h>
#include <time.h>

#define TRIES     5
#define SECOND_NS 1000000000L

/* Until another second has begun: module ids are made of it. time() is as late as the kernel's last tick. */
static void pass_a_second(void)
{
	struct timespec now, rest;
	long left_ns;

	(void)clock_gettime(CLOCK_REALTIME, &now);
	left_ns = SECOND_NS - now.tv_nsec + STAMP_LATE_NS;
	rest = (struct timespec){.tv_sec = left_ns / SECOND_NS, .tv_nsec = left_ns % SECOND_NS};
	while (nanosleep(&rest, &rest) != 0 && errno == EINTR) {
	}
}

static enum twice judge(const struct compiler *compiler, const struct entry *again, const struct entry *expected,
                        const struct entry *given, enum results difference)
{
	const char *what;
	enum results results;

	if (result_compare(compiler, expected, again, &what) == RESULTS_ALIKE) {
		return TWICE_EXPECTED;
	}
	/* What may be a module id says nothing against a difference that is in the open. */
	results = result_compare(compiler, given, again, &what);
	return results == RESULTS_ALIKE || (results == RESULTS_HIDDEN && difference == RESULTS_DIFFER) ? TWICE_SAME
	                                                                                               : TWICE_OTHER;
}

enum twice twice_ask(const struct handle *handle, const struct call *call, const struct entry *expected,
                     const struct entry *given, enum results difference)
{
	const struct compiler *compiler = handle->library->compiler;
	enum twice said = TWICE_SAME;

	if (!compiler->again || !handle->creation.bytes) {
		return TWICE_UNASKED;
	}
	if (difference == RESULTS_HIDDEN) {
		pass_a_second();
	}
	for (int i = 0; i < TRIES && said == TWICE_SAME; i++) {
		struct entry *again = compiler->again(handle, call, given);

		said = again ? judge(compiler, again, expected, given, difference) : TWICE_UNASKED;
		entry_unref(again);
	}
	return said;
}

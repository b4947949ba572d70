/* SPDX-License-Identifier: MIT */
/*
 * skip: how a test ends that cannot run here
 *
 * Criterion exits in the middle of a skipped test, without the .fini of it and its suite: what the test had made would
 * stay. Here they run first. A test lets go of what is its own, then says what would be needed: skip_test("needs
 * root").
 */
#ifndef TESTS_UNIT_SKIP_H
#define TESTS_UNIT_SKIP_H

#include <criterion/criterion.h>
#include <string.h>

#define skip_test(...)                     \
	do {                               \
		skip_fini();               \
		cr_skip_test(__VA_ARGS__); \
	} while (0)

/* Criterion packs what it gives a test's process, so that nothing there is aligned. */
static inline void skip_fini_of(const void *data)
{
	struct criterion_test_extra_data extra;

	if (data) {
		memcpy(&extra, data, sizeof(extra));
		if (extra.fini) {
			extra.fini();
		}
	}
}

static inline void skip_fini(void)
{
	skip_fini_of(criterion_current_test->data);
	skip_fini_of(criterion_current_suite->data);
}

#endif

/* SPDX-License-Identifier: MIT */
#include "interpose/nvvm/functions.h"
#include "interpose/nvvm/options.h"
#include "tests/unit/support.h"

static uint32_t tells(const char *first, const char *second)
{
	const char *const options[] = {first, second};

	return nvvm_options_tell(&(struct call){second ? 2 : 1, options, WORK_COMPILE});
}

Test(nvvm_options, clear_options_have_no_lasting_effect)
{
	cr_assert_eq(tells("-opt=3", "-arch=compute_90"), 0);
	cr_assert_eq(tells("-g", "-gen-lto"), 0);
	cr_assert_eq(tells("-ftz=1", "-Ofast-compile=max"), 0);
	cr_assert_eq(nvvm_options_tell(&(struct call){0, NULL, WORK_VERIFY}), 0);
	cr_assert_eq(nvvm_options_tell(&(struct call){-1, NULL, WORK_VERIFY}), 0);
}

Test(nvvm_options, sticky_and_unknown_options_are_found_at_every_position)
{
	cr_assert_eq(tells("-opt=3", "-restrict"), TOLD_STICKY);
	cr_assert_eq(tells("-split-compile=4", "-g"), TOLD_STICKY);
	cr_assert_eq(tells("-Xllc", "-g"), TOLD_STICKY);
	cr_assert_eq(tells("-Xopt", "-what"), TOLD_STICKY | TOLD_UNCLEARED);
	cr_assert_eq(tells("-opt=3", "-gen-ltos"), TOLD_UNCLEARED);
	cr_assert_eq(tells("-g ", NULL), TOLD_UNCLEARED);
	cr_assert_eq(tells("-Restrict", NULL), TOLD_UNCLEARED);
	cr_assert_eq(tells("", NULL), TOLD_UNCLEARED);
}

Test(nvvm_options, unreadable_options_count_as_uncleared)
{
	const char *const hole[] = {"-g", NULL};

	cr_assert_eq(nvvm_options_tell(&(struct call){1, NULL, WORK_COMPILE}), TOLD_UNCLEARED);
	cr_assert_eq(nvvm_options_tell(&(struct call){2, hole, WORK_COMPILE}), TOLD_UNCLEARED);
}

Test(nvvm_options, an_unrejected_call_with_lasting_options_disables_caching)
{
	static struct library library;
	const char *const unknown[] = {"-unheard-of"}, *const sticky[] = {"-restrict"};
	const struct call asks = {1, unknown, WORK_COMPILE}, sticks = {1, sticky, WORK_VERIFY};
	uint64_t told;

	cr_assert_eq(nvvm_options_spoil(&library), COUNTER_NONE);
	told = nvvm_options_begin(&library, &asks);
	cr_assert_eq(nvvm_options_spoil(&library), COUNTER_BYPASSED_uncleared_options);
	nvvm_options_end(&library, told, RESULT_INVALID_OPTION);
	cr_assert_eq(nvvm_options_spoil(&library), COUNTER_NONE);
	told = nvvm_options_begin(&library, &asks);
	nvvm_options_end(&library, told, RESULT_COMPILATION);
	cr_assert_eq(nvvm_options_spoil(&library), COUNTER_BYPASSED_uncleared_options);
	told = nvvm_options_begin(&library, &sticks);
	nvvm_options_end(&library, told, RESULT_SUCCESS);
	cr_assert_eq(nvvm_options_spoil(&library), COUNTER_BYPASSED_sticky_options);
}

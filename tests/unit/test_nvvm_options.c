/* SPDX-License-Identifier: MIT */
#include "interpose/compile/handle.h"
#include "interpose/compile/request.h"
#include "interpose/nvvm/functions.h"
#include "interpose/nvvm/nodes.h"
#include "tests/unit/support.h"

enum { CLEAR, STICKY, UNCLEARED, BOTH };

static unsigned tells_of(const char *const *options, int count)
{
	const struct lasting lasting = nvvm_compiler.lasting(&(struct call){count, options, WORK_COMPILE});

	return (lasting.sticky ? STICKY : CLEAR) | (lasting.uncleared ? UNCLEARED : CLEAR);
}

static unsigned tells(const char *first, const char *second)
{
	return tells_of((const char *const[]){first, second}, second ? 2 : 1);
}

Test(nvvm_options, clear_options_have_no_lasting_effect)
{
	cr_assert_eq(tells("-opt=3", "-arch=compute_90"), CLEAR);
	cr_assert_eq(tells("-g", "-gen-lto"), CLEAR);
	cr_assert_eq(tells("-ftz=1", "-Ofast-compile=max"), CLEAR);
	cr_assert_eq(tells_of(NULL, 0), CLEAR);
	cr_assert_eq(tells_of(NULL, -1), CLEAR);
}

Test(nvvm_options, sticky_and_unknown_options_are_found_at_every_position)
{
	cr_assert_eq(tells("-opt=3", "-restrict"), STICKY);
	cr_assert_eq(tells("-split-compile=4", "-g"), STICKY);
	cr_assert_eq(tells("-Xllc", "-g"), STICKY);
	cr_assert_eq(tells("-Xopt", "-what"), BOTH);
	cr_assert_eq(tells("-opt=3", "-gen-ltos"), UNCLEARED);
	cr_assert_eq(tells("-g ", NULL), UNCLEARED);
	cr_assert_eq(tells("-Restrict", NULL), UNCLEARED);
	cr_assert_eq(tells("", NULL), UNCLEARED);
}

Test(nvvm_options, unreadable_options_count_as_uncleared)
{
	cr_assert_eq(tells_of(NULL, 1), UNCLEARED);
	cr_assert_eq(tells_of((const char *const[]){"-g", NULL}, 2), UNCLEARED);
}

Test(nvvm_options, an_unrejected_call_with_lasting_options_disables_caching)
{
	static struct library library = {.compiler = &nvvm_compiler};
	const struct call asks = {1, (const char *const[]){"-unheard-of"}, WORK_COMPILE};
	const struct call sticks = {1, (const char *const[]){"-restrict"}, WORK_VERIFY};
	const struct handle handle = {.library = &library};
	struct lasting lasting;

	cr_assert_eq(nvvm_compiler.refuses(&handle, NULL, NULL), COUNTER_NONE);
	lasting = lasting_begin(&library, &asks);
	cr_assert_eq(nvvm_compiler.refuses(&handle, NULL, NULL), COUNTER_BYPASSED_uncleared_options);
	lasting_end(&library, &lasting, RESULT_INVALID_OPTION);
	cr_assert_eq(nvvm_compiler.refuses(&handle, NULL, NULL), COUNTER_NONE);
	lasting = lasting_begin(&library, &asks);
	lasting_end(&library, &lasting, RESULT_COMPILATION);
	cr_assert_eq(nvvm_compiler.refuses(&handle, NULL, NULL), COUNTER_BYPASSED_uncleared_options);
	lasting = lasting_begin(&library, &sticks);
	lasting_end(&library, &lasting, RESULT_SUCCESS);
	cr_assert_eq(nvvm_compiler.refuses(&handle, NULL, NULL), COUNTER_BYPASSED_sticky_options);
}

Test(nvvm_options, a_creation_run_that_lacked_memory_is_not_looked_up)
{
	struct library library = {.compiler = &nvvm_compiler, .state = STEP_DONE};
	struct handle handle = {.library = &library};
	const struct call call = {.kind = WORK_COMPILE};
	struct request request = {0};

	cr_assert_eq(request_describe(&handle, 0, &call, &request), COUNTER_NONE);
	request_clear(&request);
	handle.creation.failed = true;
	cr_assert_eq(request_describe(&handle, 0, &call, &request), COUNTER_ERRORS_memory);
	request_clear(&request);
}

/* SPDX-License-Identifier: MIT */
#include "interpose/compile/handle.h"
#include "interpose/nvrtc/functions.h"
#include "interpose/nvrtc/nodes.h"
#include "interpose/nvrtc/sticky.h"
#include "tests/unit/support.h"

static struct library library;

static void compiled(int result, const char *option, const char *other)
{
	const char *options[] = {"-arch=sm_80", option, other};
	struct lasting lasting = lasting_begin(&library, &(struct call){other ? 3 : 2, options, 0});

	lasting_end(&library, &lasting, result);
}

static void fresh(int major, int minor)
{
	library = (struct library){.compiler = &nvrtc_compiler, .major = major, .minor = minor};
}

/* Returns true if a compile with these options may be cached after the earlier ones. */
static bool kept(const char *option, const char *other)
{
	const char *const list[] = {"-arch=sm_80", option, other};
	struct options options;
	bool is_kept;

	cr_assert_eq(options_read(list, other ? 3 : option ? 2 : 1, &options), 0);
	is_kept = sticky_spoils(&library, &options) == COUNTER_NONE;
	options_free(&options);
	return is_kept;
}

Test(sticky, sticky_options_depend_on_the_release)
{
	fresh(12, 2);
	compiled(RESULT_SUCCESS, "-restrict", "-split-compile=2");
	cr_expect(kept(NULL, NULL));
	fresh(12, 0);
	compiled(RESULT_SUCCESS, "-restrict", "-split-compile=2");
	cr_expect_not(kept(NULL, NULL));
	cr_expect_not(kept("-split-compile=2", NULL));
}

Test(sticky, an_uncleared_option_of_a_running_call_spoils_other_results)
{
	fresh(13, 0);
	(void)lasting_begin(&library, &(struct call){1, &(const char *){"-Xnew"}, 0});
	cr_expect_not(kept(NULL, NULL));
}

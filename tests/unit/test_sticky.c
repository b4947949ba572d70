/* SPDX-License-Identifier: MIT */
#include "interpose/nvrtc/functions.h"
#include "interpose/nvrtc/sticky.h"
#include "tests/unit/support.h"

static struct library library;

static void compiled(int result, const char *option, const char *other)
{
	const char *options[] = {"-arch=sm_80", option, other};
	struct sticky_call sticky;

	sticky_begin(&library, &(struct call){other ? 3 : 2, options, 0}, &sticky);
	sticky_end(&sticky, result);
}

static void fresh(int major, int minor)
{
	library = (struct library){.major = major, .minor = minor};
}

static void begin(void)
{
	fresh(13, 0);
}

TestSuite(sticky, .init = begin);

/* Returns true if a compile with these options may be cached after the earlier ones. */
static bool kept(const char *option, const char *other)
{
	const char *const list[] = {"-arch=sm_80", option, other};
	struct options options;
	bool is_kept;

	cr_assert_eq(options_read(list, other ? 3 : option ? 2 : 1, &options), 0);
	is_kept = !sticky_spoils(&library, &options) && !sticky_may_spoil(&library, &options);
	options_free(&options);
	return is_kept;
}

Test(sticky, after_a_sticky_option_compiles_without_it_are_not_cached)
{
	compiled(RESULT_SUCCESS, "-restrict", NULL);
	cr_expect_not(kept(NULL, NULL));
	cr_expect(kept("--restrict", NULL));
	fresh(13, 5);
	compiled(RESULT_SUCCESS, "-dlto", "-gen-opt-lto");
	cr_expect_not(kept("-split-compile=2", NULL));
	cr_expect(kept("-dlto", "-gen-opt-lto"));
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

Test(sticky, options_of_common_clients_are_clear)
{
	compiled(RESULT_SUCCESS, "-I/usr/include", "-DX=1");
	compiled(RESULT_SUCCESS, "--std=c++17", "-default-device");
	compiled(RESULT_SUCCESS, "-Xptxas", "-O1");
	compiled(RESULT_SUCCESS, "--ptxas-options=--register-usage-level=10,--verbose", "--diag-suppress=39,161");
	compiled(RESULT_SUCCESS, "-G", "-lineinfo");
	compiled(RESULT_SUCCESS, "-maxrregcount", "64");
	compiled(RESULT_COMPILATION, "-split-compile=4", "--time=x.csv");
	cr_expect(kept(NULL, NULL));
}

Test(sticky, after_an_uncleared_option_compiles_without_it_are_not_cached)
{
	compiled(RESULT_SUCCESS, "--option-of-the-future", NULL);
	cr_expect_not(kept(NULL, NULL));
	cr_expect_not(kept("-Xcudafe", NULL));
	cr_expect(kept("--option-of-the-future", NULL));
	compiled(RESULT_SUCCESS, "-Xcudafe", "--another");
	cr_expect_not(kept("--option-of-the-future", NULL));
	cr_expect_not(kept("-Xcudafe", "--another"));
}

Test(sticky, option_values_are_compared)
{
	compiled(RESULT_SUCCESS, "-Xptxas", "--option-of-the-future=1");
	cr_expect_not(kept(NULL, NULL));
	cr_expect_not(kept("-Xptxas", "--option-of-the-future=2"));
	cr_expect(kept("-Xptxas", "--option-of-the-future=1"));
}

Test(sticky, rejected_options_have_no_lasting_effect)
{
	compiled(RESULT_INVALID_OPTION, "--bogus", NULL);
	cr_expect(kept(NULL, NULL));
}

Test(sticky, while_a_call_with_uncleared_options_runs_nothing_is_cached)
{
	const char *options[] = {"--option-of-the-future"};
	struct sticky_call sticky;

	sticky_begin(&library, &(struct call){1, options, 0}, &sticky);
	cr_expect_not(kept(NULL, NULL));
	sticky_end(&sticky, RESULT_INVALID_OPTION);
	cr_expect(kept(NULL, NULL));
}

Test(sticky, malformed_option_arrays_are_tolerated)
{
	struct sticky_call sticky;

	sticky_begin(&library, &(struct call){1, NULL, 0}, &sticky);
	sticky_end(&sticky, RESULT_INVALID_INPUT);
	sticky_begin(&library, &(struct call){-1, (const char *const[]){"-restrict"}, 0}, &sticky);
	sticky_end(&sticky, RESULT_INVALID_INPUT);
	cr_expect(kept(NULL, NULL));
}

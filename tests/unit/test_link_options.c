/* SPDX-License-Identifier: MIT */
#include "interpose/nvjitlink/link.h"
#include "tests/unit/support.h"

static unsigned read_two(const char *option, const char *other)
{
	const char *options[] = {"-arch=sm_90", option, other};
	const struct call call = {.option_count = other ? 3 : 2, .options = options};

	return link_options_read(&call);
}

static unsigned read_one(const char *option)
{
	return read_two(option, NULL);
}

Test(link_options, options_without_lasting_effect_are_clear)
{
	EACH_STRING(option, cr_expect_eq(read_one(option), 0, "%s", option), "-O3", "-lineinfo", "-ftz=true",
	            "-maxrregcount=32", "-kernels-used=a,b", "-optimize-unused-variables", "-split-compile=4",
	            "-no-cache", "-r", "-ptx", "-Xptxas=-O2", "-Xptxas=-dlcm=cg,-O1");
	cr_expect_eq(link_options_read(&(struct call){0}), 0);
}

Test(link_options, unknown_options_are_uncleared)
{
	EACH_STRING(option, cr_expect_eq(read_one(option), LINK_OPTIONS_UNCLEARED, "%s", option), "", "-", "-future",
	            "-future=1", "-Xnvvm=-inline-info", "-Xnvvm=", "-lt", "-lto2", "-Xptxas=", "-Xptxas=--odd",
	            "-Xptxas=-O2,--odd", "-Xptxas", "arch=sm_90", "-arc=sm_90", "--arch=sm_90");
	/* those that scripts/sticky --unlisted finds nvJitLink 12.9 to 13.5 to accept */
	EACH_STRING(option, cr_expect_eq(read_one(option), LINK_OPTIONS_UNCLEARED, "%s", option), "--Ofast-compile=max",
	            "--device-stack-protector=true", "--no-cache", "--trace", "-Xfinalizer=-O1",
	            "-disable-smem-reserve", "-dlto", "-fast-compile", "-no-opt", "-uidx=1");
}

/* nvJitLink matches names by prefix: it accepts -lto=1, whose effect is not known. */
Test(link_options, a_known_option_in_another_form_is_uncleared)
{
	EACH_STRING(option, cr_expect_eq(read_one(option), LINK_OPTIONS_UNCLEARED, "%s", option), "-lto=1",
	            "-ptx=", "-arch", "-ftz", "-time=1", "-no-cache=0", "-split-compile");
}

Test(link_options, each_option_has_its_flags)
{
	cr_expect_eq(read_one("-lto"), LINK_OPTIONS_LTO);
	cr_expect_eq(read_one("-time"), LINK_OPTIONS_LOGS);
	cr_expect_eq(read_one("-g"), LINK_OPTIONS_VARIES);
	cr_expect_eq(read_one("-O0"), LINK_OPTIONS_VARIES);
	cr_expect_eq(read_one("-Ofc=max"), LINK_OPTIONS_VARIES);
	cr_expect_eq(read_one("-split-compile-extended=4"), LINK_OPTIONS_VARIES);
	cr_expect_eq(read_two("-lto", "-time"), LINK_OPTIONS_LTO | LINK_OPTIONS_LOGS);
	cr_expect_eq(read_two("-odd", "-lto"), LINK_OPTIONS_LTO | LINK_OPTIONS_UNCLEARED);
}

static void expect_spoken(const char *option)
{
	cr_expect_eq(read_one(option), LINK_OPTIONS_LOGS, "%s", option);
	cr_expect_eq(read_two(option, "-no-cache"), 0, "%s", option);
	cr_expect_eq(read_two("-no-cache", option), 0, "%s", option);
}

Test(link_options, ptxas_output_can_be_cached_only_with_no_cache)
{
	EACH_STRING(option, expect_spoken(option), "-Xptxas=-v", "-Xptxas=--verbose", "-Xptxas=-O2,-v",
	            "-Xptxas=--warn-on-spills");
	cr_expect_eq(read_two("-time", "-no-cache"), LINK_OPTIONS_LOGS);
	cr_expect_eq(read_two("-verbose", "-no-cache"), LINK_OPTIONS_LOGS);
}

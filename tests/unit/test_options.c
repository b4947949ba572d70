/* SPDX-License-Identifier: MIT */
#include "interpose/nvrtc/options.h"
#include "tests/unit/option_spellings.h"
#include "tests/unit/support.h"

static struct options options; /* what was read last */
static int read_count;         /* of how many strings */

/* Returns a directory that one of the strings names, counted from 0, or NULL. */
static const char *directory_number(size_t number)
{
	for (int i = 0; i < read_count; i++) {
		const char *directory = options_directory(&options, i);

		if (directory && number-- == 0) {
			return directory;
		}
	}
	return NULL;
}

static void drop(void)
{
	options_free(&options);
}

TestSuite(options, .fini = drop);

static void read_counted(const char *const *strings, int count)
{
	drop();
	cr_assert_eq(options_read(strings, count, &options), 0);
	read_count = count;
}

static void read_strings(const char *const *strings)
{
	int count = 0;

	while (strings[count]) {
		count++;
	}
	read_counted(strings, count);
}

#define FIRST(...) ((const char *const[]){__VA_ARGS__})[0]
#define READ(...)  read_strings((const char *const[]){__VA_ARGS__, NULL})

#define assert_class(debug_, ir_, pch_, unknown_, ...)                                                                 \
	do {                                                                                                           \
		READ(__VA_ARGS__);                                                                                     \
		cr_assert_eq(options_do(&options, OPTION_DEBUG), debug_, "debug: %s: %s", FIRST(__VA_ARGS__),          \
		             #__VA_ARGS__);                                                                            \
		cr_assert_eq(options_do(&options, OPTION_IR), ir_, "ir: %s: %s", FIRST(__VA_ARGS__), #__VA_ARGS__);    \
		cr_assert_eq(options_do(&options, OPTION_PCH), pch_, "pch: %s: %s", FIRST(__VA_ARGS__), #__VA_ARGS__); \
		cr_assert_eq(options_do(&options, OPTION_BINDS), unknown_, "unknown: %s: %s", FIRST(__VA_ARGS__),      \
		             #__VA_ARGS__);                                                                            \
	} while (0)

#define assert_harmless(...) assert_class(false, false, false, false, __VA_ARGS__)
#define assert_unknown(...)  assert_class(false, false, false, true, __VA_ARGS__)
#define assert_debug(...)    assert_class(true, false, false, false, __VA_ARGS__)
#define assert_ir(...)       assert_class(false, true, false, false, __VA_ARGS__)
#define assert_pch(...)      assert_class(false, false, true, false, __VA_ARGS__)

/* The same substitution as in the real test: "@" is a directory. */
static char *spelled(const char *text)
{
	const char *at = text ? strchr(text, '@') : NULL;
	char *result = NULL;

	if (!text) {
		return NULL;
	}
	if (!at) {
		return strdup(text);
	}
	cr_assert_gt(asprintf(&result, "%.*s/d/include%s", (int)(at - text), text, at + 1), 0);
	return result;
}

Test(options, every_spelling_of_an_include_gives_the_directory_that_nvrtc_would_search)
{
	for (size_t i = 0; i < OPTION_SPELLING_COUNT; i++) {
		const struct option_spelling *spelling = &option_spellings[i];
		char *strings[5] = {NULL}, *directory = spelled(spelling->directory);

		for (size_t j = 0; j < 4; j++) {
			strings[j] = spelled(spelling->strings[j]);
		}
		read_strings((const char *const *)strings);
		if (directory) {
			cr_assert_not_null(directory_number(0), "row %zu: %s", i, strings[0]);
			cr_assert_str_eq(directory_number(0), directory, "row %zu", i);
		} else {
			cr_assert_null(directory_number(0), "row %zu: %s", i, strings[0]);
		}
		for (size_t j = 0; j < 4; j++) {
			free(strings[j]);
		}
		free(directory);
	}
}

Test(options, an_accepted_spelling_whose_directory_is_not_recognized_binds)
{
	for (size_t i = 0; i < OPTION_SPELLING_COUNT; i++) {
		const struct option_spelling *spelling = &option_spellings[i];

		if (spelling->nvrtc == HEADER_FOUND && !spelling->directory) {
			read_strings(spelling->strings);
			cr_assert(options_bind(&options), "row %zu: %s", i, spelling->strings[0]);
		}
	}
}

Test(options, directories_point_into_their_strings_in_order)
{
	const char *strings[] = {"-I/a", "-DX", "-I", "/b", "--include-path=/c", "-I/a"};
	read_counted(strings, 6);
	cr_assert_null(directory_number(4));
	cr_assert_eq(options_directory(&options, 0), strings[0] + 2);
	cr_assert_eq(options_directory(&options, 3), strings[3]);
	cr_assert_eq(options_directory(&options, 4), strings[4] + 15);
	cr_assert_eq(options_directory(&options, 5), strings[5] + 2);
}

Test(options, no_options_bind_nothing)
{
	read_counted(NULL, 0);
	cr_assert_not(options_bind(&options));
	cr_assert_null(directory_number(0));
}

Test(options, a_null_string_binds)
{
	const char *strings[] = {NULL, "-I/a"};
	read_counted(strings, 2);
	cr_assert(options_do(&options, OPTION_BINDS));
	read_counted(NULL, 1);
	cr_assert(options_do(&options, OPTION_BINDS));
}

/* Each of these was compiled under two directories with headers of two ages: same PTX, CUBIN and log. */
Test(options, options_measured_to_be_path_neutral_do_not_bind)
{
	assert_harmless("-arch=sm_90", "--std=c++17", "-default-device", "-w");
	assert_harmless("--gpu-architecture", "compute_90", "-rdc", "true", "-dc", "-dw", "-ewp");
	assert_harmless("-DX=3", "-D", "X", "-D Y", "-UZ", "--define-macro=A=1", "--undefine-macro", "B");
	assert_harmless("-ftz=true", "--prec-div=false", "-prec-sqrt", "true", "-fmad=false", "-use_fast_math");
	assert_harmless("--use_fast_math", "--maxrregcount=32", "-Ofc=max", "-dopt=on", "--dopt", "on", "-jtd=10");
	assert_harmless("--split-compile=0", "-no-cache", "-frandom-seed=7", "-opt-info=inline", "--restrict");
	assert_harmless("-diag-suppress=177,20", "--diag-warn", "20", "-brief-diag=true", "-err-no", "-no-err-no");
	assert_harmless("--device-as-default-execution-space", "-minimal", "-device-int128", "--no-source-include");
	assert_harmless(" -arch=sm_90 ", "  -w");
}

Test(options, debug_options_are_seen_in_every_accepted_spelling)
{
	EACH_STRING(text, assert_debug(text), "-G", "--device-debug", "-lineinfo", "--generate-line-info");
	assert_debug("-arch=sm_90", " -G ");
}

static void assert_exact(const char *option)
{
	READ(option);
	cr_assert(options_bind(&options), "%s", option);
	cr_assert(options_exact(&options), "%s", option);
}

/* NVRTC refuses these today; if a later one accepts them, they may be on or off, and are held to be on. */
Test(options, debug_options_with_a_value_bind_and_count_as_exact)
{
	EACH_STRING(text, assert_exact(text), "-G=false", "-lineinfo=false", "--device-debug=true",
	            "--generate-line-info=", "-lineinfo\t", "-G\n");
}

Test(options, intermediate_forms_are_seen_in_every_accepted_spelling)
{
	EACH_STRING(text, assert_ir(text), "-dlto", "-gen-opt-lto", "--dlink-time-opt", "-optix-ir", "--optix-ir");
}

Test(options, precompiled_headers_are_seen_and_bind)
{
	assert_pch("-pch");
	assert_pch("--pch", "--pch-dir=/tmp");
	assert_pch("--use-pch=/tmp/x.pch");
	READ("-pch", "-w");
	cr_assert(options_bind(&options));
}

Test(options, names_match_exactly_and_with_the_right_number_of_dashes)
{
	EACH_STRING(text, assert_unknown(text), "--arch=sm_90", "-gpu-architecture=sm_90", "-archx=sm_90", "-arc=sm_90",
	            "--dlto", "--G", "-lineinfos", "-wx", "---w", "w", "-", "--", "", " ", "@file");
	assert_unknown("--options-file", "f");
}

Test(options, a_known_name_in_a_form_that_nvrtc_rejects_binds)
{
	EACH_STRING(text, assert_unknown(text), "-arch sm_90", "-w=true", "-dc=true", "-arch", "-D", "-I");
	assert_unknown("-std", "c++17");
	assert_unknown("-frandom-seed", "7");
}

Test(options, one_directory_of_bundled_headers_is_an_include_directory)
{
	READ("--use-bundled-headers=/h", "-I/i");
	cr_expect(!options_bind(&options) && !options.uncleared);
	cr_expect_str_eq(options.bundle, "/h");
	cr_expect_str_eq(directory_number(1), "/i");
	EACH_STRING(text, assert_unknown(text), "--use-bundled-headers=h", "--use-bundled-headers",
	            "-use-bundled-headers=/h");
	assert_unknown("--use-bundled-headers=/h", "--use-bundled-headers=/i");
}

Test(options, run_times_in_the_log_are_those_of_one_process)
{
	EACH_STRING(
	    text,
	    {
		    assert_unknown(text);
		    cr_expect(options_do(&options, OPTION_TELLS), "%s", text);
	    },
	    "--time=-", "-time=-", "--time= -", " --time=-");
	READ("--time=a-");
	cr_expect_not(options_do(&options, OPTION_TELLS));
}

Test(options, unknown_options_bind)
{
	EACH_STRING(text, assert_unknown(text), "--embed-everything", "-time=/tmp/times", "--fdevice-time-trace=x");
	assert_unknown("-enable-tile", "-arch=sm_100");
	assert_unknown("-Xcudafe", "--display_error_number");
}

/* "-Xptxas -lineinfo" was measured to put line tables into the CUBIN. */
Test(options, text_passed_to_the_assembler_binds)
{
	assert_unknown("-Xptxas", "-v");
	assert_unknown("--ptxas-options=-O3");
	assert_unknown("-Xptxas", "-lineinfo");
	assert_unknown("-Xptxas=-g");
	assert_unknown("-Xptxas=-v ");
	assert_unknown("--ptxas-options", "--generate-line-info");
	assert_unknown("-Xptxas", "-v,-lineinfo");
}

static void assert_cleared(bool expected, const char *name, const char *value)
{
	READ("-w", name, value);
	cr_expect_eq(!options_do(&options, OPTION_BINDS) && options.uncleared == 0, expected, "%s %s", name, value);
}

/* Of what the list has, cuDNN spells this value alone in the clear: its name is that of a listed option. */
Test(options, an_option_is_cleared_by_its_digest_and_only_where_it_was_seen)
{
	assert_cleared(true, "-Xptxas", "-uumn");
	assert_cleared(false, "-Xptxas", "-uumn ");
	assert_cleared(false, "-Xptxas", "-uumm");
	assert_cleared(false, "-Xnvvm", "-uumn");
	assert_cleared(false, "-Xnvvm", "-opt=0");
	assert_cleared(false, "--no-such-option", "-w");
}

Test(options, what_is_passed_to_nvvm_is_not_read_as_an_option)
{
	READ("-Xnvvm", "-I/a", "-Xnvvm=-I/b", "-I/c");
	cr_expect_null(directory_number(1));
	cr_expect(options_do(&options, OPTION_BINDS) && options.uncleared != 0);
	READ("-Xnvvm");
	cr_expect(options_do(&options, OPTION_BINDS) && options.uncleared != 0);
}

/* NVRTC refuses it, so nothing that it may have done lasts. */
Test(options, an_option_without_its_value_is_unknown_and_cleared)
{
	READ("-D");
	cr_expect(options_do(&options, OPTION_BINDS) && options.uncleared == 0);
	READ("--ptxas-options");
	cr_expect(options_do(&options, OPTION_BINDS) && options.uncleared == 0);
}

Test(options, the_value_of_a_two_string_option_is_not_read_as_an_option)
{
	assert_harmless("-D", "-G");
	assert_harmless("-U", "--pch");
	assert_harmless("-D ", "-lineinfo");
	assert_harmless("-I", "-dlto");
	assert_harmless("-include", "-G");
	assert_debug("-D", "-dlto", "-G");
}

Test(options, a_pre_included_file_binds_only_if_absolute)
{
	assert_harmless("--pre-include=a.h");
	assert_harmless("-include", "sub/a.h");
	EACH_STRING(text, assert_unknown(text), "--pre-include=/d/a.h", "-include= /d/a.h", "--pre-include");
	assert_unknown("-include", "/d/a.h");
	assert_unknown("-include", " /d/a.h");
}

Test(options, options_with_process_wide_effect_are_reported)
{
	READ("-restrict", "-arch=sm_90");
	cr_assert_eq(options.effects & OPTION_STICKY, OPTION_RESTRICT);
	READ("--optimization-info=inline", "--restrict");
	cr_assert_eq(options.effects & OPTION_STICKY, OPTION_RESTRICT | OPTION_OPT_INFO);
	READ("-D", "-restrict", "-arch=sm_90");
	cr_assert_eq(options.effects & OPTION_STICKY, 0);
}

Test(options, unknown_options_count_as_exact_and_intermediate_forms_do_not)
{
	READ("--embed-everything");
	cr_assert(options_exact(&options));
	READ("-dlto");
	cr_assert_not(options_exact(&options));
}

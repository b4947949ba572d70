/* SPDX-License-Identifier: MIT */
#include "keygen/scan.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static uint32_t scan(const char *text)
{
	return scan_text(text, strlen(text), NULL);
}

/* In a block of exactly its size, at every place, so that the address sanitizer sees a read past either end. */
Test(scan, a_time_macro_is_found_at_every_place_and_only_whole)
{
	static const char *const macros[] = {"__DATE__", "__TIME__"};

	for (size_t size = 0; size < 80; size++) {
		char *text = malloc(size ? size : 1);

		memset(text, '_', size);
		cr_assert_not((scan_text(text, size, NULL) & SCAN_TIME));
		for (size_t at = 0; at + 8 <= size; at++) {
			for (int which = 0; which < 2; which++) {
				memset(text, which ? 'E' : '_', size);
				memcpy(text + at, macros[which], 8);
				cr_assert((scan_text(text, size, NULL) & SCAN_TIME), "%zu of %zu", at, size);
				text[at + 7] = 'x';
				cr_assert_not((scan_text(text, size, NULL) & SCAN_TIME), "%zu of %zu", at, size);
			}
		}
		for (size_t at = 0; at < size && at < 8; at++) {
			memset(text, 'x', size);
			memcpy(text + size - at, "__DATE__", at);
			cr_assert_not((scan_text(text, size, NULL) & SCAN_TIME));
		}
		free(text);
	}
}

Test(scan, a_name_that_goes_on_over_the_end_of_a_line_is_found)
{
	static const char *const ends[] = {"\\\n", "\\\r\n", "\\\n\\\n", "\?\?/\n", "\?\?/\r\n"};
	static const char macro[] = "__TIME__";

	for (size_t which = 0; which < COUNT(ends); which++) {
		for (size_t before = 0; before < 40; before++) {
			for (size_t at = 1; at < 8; at++) {
				char text[80];
				int size = snprintf(text, sizeof(text), "%*s%.*s%s%s", (int)before, "", (int)at, macro,
				                    ends[which], macro + at);
				char *exact = malloc((size_t)size);

				memcpy(exact, text, (size_t)size);
				cr_assert_eq(scan_text(exact, (size_t)size, NULL), SCAN_TIME, "%s", text);
				cr_assert_eq(scan_text(exact, (size_t)size - 1, NULL), 0);
				free(exact);
			}
		}
	}
	cr_assert_eq(scan("_\\\n_\\\nT\\\nI\\\nM\\\nE\\\n_\\\n_"), SCAN_TIME);
	cr_assert_eq(scan("__FI\\\nLE__"), SCAN_PATH);
	cr_assert_eq(scan("lib_source_\\\nlocation"), 0);
	cr_assert_eq(scan("lib_source_location_l\\\no"), 0);
	cr_assert_eq(scan("__TI\nME__ __TI\\ \nME__ __TI\\\n ME__ __TI\\x\nME__"), 0);
	cr_assert_eq(scan("#define a(b) \\\n\tb; \\\n\tb\\\n"), 0);
}

Test(scan, other_macros_that_look_like_a_time_macro_are_not)
{
	static const char *const others[] = {
	    "__TIMESTAMP__",   "__DATE_",
	    "_DATE__ _TIME__", "__TATE__ __DIME__",
	    "DATE TIME",       "__FILE__ __LINE__ and more text to fill more than one block of sixteen __DATA__"};

	for (size_t i = 0; i < COUNT(others); i++)
		cr_assert_not((scan_text(others[i], strlen(others[i]), NULL) & SCAN_TIME), "%s", others[i]);
}

Test(scan, the_kin_of_file_are_found_at_every_place)
{
	static const char *const macros[] = {"__FILE__",       "__BASE_FILE__",      "__FILE_NAME__",
	                                     "__builtin_FILE", "_CCCL_BUILTIN_FILE", "std::source_location::current"};

	for (size_t which = 0; which < COUNT(macros); which++) {
		for (size_t at = 0; at < 70; at++) {
			char text[160];

			memset(text, ' ', sizeof(text));
			memcpy(text + at, macros[which], strlen(macros[which]));
			cr_assert_eq(scan_text(text, sizeof(text), NULL), SCAN_PATH, "%s at %zu", macros[which], at);
			cr_assert_eq(scan_text(text, at + strlen(macros[which]), NULL), SCAN_PATH, "%s at the end, %zu",
			             macros[which], at);
		}
	}
}

Test(scan, other_names_of_files_are_not_found)
{
	cr_assert_eq(scan("FILE *file; __LINE__; open_FILE; __cpp_lib_source_location; __FILES__ # __CUDA_FILE__"), 0);
}

Test(scan, a_path_in_quotes_inside_a_place_is_found)
{
	struct root root[] = {{"/usr/include", 12}, {"/home/me/v", 10}};
	const struct roots roots = {.root = root, .count = 2};
	const struct places places = {&roots, "/some/dir"};
	static const struct {
		const char *text;
		uint32_t finding;
	} cases[] = {
	    {"#include \"/home/me/v/a.h\"", SCAN_PLACE},
	    {"#include </usr/include/b.h>", SCAN_PLACE},
	    {"#define HEADER \"/some/dir/x.h\"", SCAN_PLACE},
	    {"#include \"/home/me/very/a.h\"", 0},
	    {"#include \"home/me/v/a.h\"", 0},
	    {"</tt> /usr/include/b.h", 0},
	    {"\"/", 0},
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		size_t size = strlen(cases[i].text);

		for (size_t before = 0; before < 40; before++) {
			char *text = malloc(before + size + 64);

			memset(text, ' ', before + size + 64);
			memcpy(text + before, cases[i].text, size);
			cr_assert_eq(scan_text(text, before + size + 64, &places), cases[i].finding, "%s behind %zu",
			             cases[i].text, before);
			cr_assert_eq(scan_text(text, before + size, &places), cases[i].finding, "%s behind %zu, cut",
			             cases[i].text, before);
			free(text);
		}
		cr_assert_eq(scan_text(cases[i].text, size, NULL), 0);
	}
}

Test(scan, headers_of_cccl_are_told_by_how_their_paths_end)
{
	cr_assert(scan_path_is_exempt("/any/where/cuda/std/__cccl/assert.h"));
	cr_assert_not(scan_path_is_exempt("/any/where/assert.h"));
	cr_assert_not(scan_path_is_exempt("assert.h"));
	cr_assert_not(scan_path_is_exempt("/mycuda/std/version"));
}

/* SPDX-License-Identifier: MIT */
#include "interpose/nvrtc/scan.h"

#include "interpose/nvrtc/texts.h"
#include "tests/unit/support.h"

static uint32_t scan(const char *text)
{
	return scan_text(text, strlen(text), NULL);
}

/* In a block of exactly its size, at every place, so that the address sanitizer sees a read past either end. */
Test(scan, a_time_macro_is_found_at_every_position_as_a_whole_word)
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

Test(scan, macros_that_may_expand_to_a_path_are_found_as_whole_words)
{
	EACH_STRING(text, cr_assert_eq(scan_program_text(text, strlen(text), NULL), SCAN_PATH, "%s", text), "assert(x)",
	            "x=assert(1)", "1;assert (x)", "as\\\nsert(1)", "CubDebugExit(e)", "assert",
	            "static_assert(1);\nassert(x)", "_CCCL_VERIFY(a, b)", "_CCCL_ASSERT_HOST(a, b)");
	EACH_STRING(text, cr_assert_eq(scan_program_text(text, strlen(text), NULL), 0, "%s", text), "static_assert(1)",
	            "an assertion", "asserts", "myassert(1)", "asser", "_CCCL_DEVICE", "__assertfail", "");
}

/* As NVRTC 11.8 to 13.5 accept them: any number of CR; trigraphs up to C++14; white space after the backslash in
 * C++23. */
static const char *const splices[] = {
    "\\\n",     "\\\r\n",        "\\\r\r\n",   "\\\r\r\r\r\r\r\r\r\r\r\r\r\r\r\r\r\r\r\n",
    "\\\n\\\n", "\?\?/\n",       "\?\?/\r\n",  "\?\?/\r\r\n",
    "\\ \n",    "\\ \t\v\f\r\n", "\\\n\\\r\n", "\?\?/\n\\\n"};

Test(scan, a_name_across_a_line_splice_is_found)
{
	static const char macro[] = "__TIME__";

	for (size_t which = 0; which < COUNT(splices); which++) {
		for (size_t before = 0; before < 40; before++) {
			for (size_t at = 1; at < 8; at++) {
				char text[80];
				int size = snprintf(text, sizeof(text), "%*s%.*s%s%s", (int)before, "", (int)at, macro,
				                    splices[which], macro + at);
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
	/* Only the last backslash of a line begins a splice; removing one does not make the one before it a splice. */
	cr_assert_eq(scan("__TI\\\\\n\nME__"), 0);
	cr_assert_eq(scan("__TI\nME__ __TI\\\rME__ __TI\\\n ME__ __TI\\x\nME__ __TI/\nME__ __TI?/\nME__"), 0);
	cr_assert_eq(scan("#define a(b) \\\n\tb; \\\n\tb\\\n"), 0);
}

Test(scan, similar_names_are_not_time_macros)
{
	EACH_STRING(text, cr_assert_not((scan(text) & SCAN_TIME), "%s", text), "__TIMESTAMP__", "__DATE_",
	            "_DATE__ _TIME__", "__TATE__ __DIME__", "DATE TIME",
	            "__FILE__ __LINE__ and more text to fill more than one block of sixteen __DATA__");
}

Test(scan, file_macros_are_found_at_every_position)
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
	cr_assert_eq(scan("FILE *file; __LINE__; open_FILE; __cpp_lib_course_location; __FILES__ # __CUDA_FILE__"), 0);
}

Test(scan, a_path_inside_a_place_is_found)
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
	    {"#include \"/home/\\\r\r\nme/v\?\?/\n/a.h\"", SCAN_PLACE},
	    {"#include \"\\\n/home/me/v\\\n/\\\na.h\"", SCAN_PLACE},
	    {"#include STRING(/usr/include/b.h)", SCAN_PLACE},
	    {"#define WHERE /usr/include\n#include STRING(WHERE/b.h)", SCAN_PLACE},
	    {"-DWHERE=/some/dir", SCAN_PLACE},
	    {"#include \"/home/me/very/a.h\"", 0},
	    {"#include \"/home/me\n/v/a.h\"", 0},
	    {"#include \"home/me/v\"", 0},
	    {"</tt> /usr/include.h /usr/include-2 /usr/include_ /usr/includes", 0},
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

Test(scan, only_paths_with_one_spelling_are_plain)
{
	cr_assert(scan_spells_plainly("/usr/local/cuda-13.0/include/x86_64+q@(1),%=;'!$&:", 50));
	cr_assert(scan_spells_plainly("/caf\xc3\xa9", 6));
	EACH_STRING(text, cr_expect_not(scan_spells_plainly(text, 3), "%s", text), "a b", "a\tb", "a\\b", "a?b", "a[b",
	            "a]b", "a{b", "a}b", "a|b", "a~b", "a^b", "a#b", "a<b", "a>b", "a\"b", "a\nb", "/*b");
}

Test(scan, headers_of_cccl_are_recognized_by_their_content)
{
	static const char *const known[] = {
#include "interpose/nvrtc/known_headers.list"
	};

	for (size_t i = 0; i < COUNT(known); i++) {
		struct key key;

		for (size_t j = 0; j < KEY_BYTES; j++) {
			unsigned byte;

			cr_assert_eq(sscanf(&known[i][2 * j], "%2x", &byte), 1);
			key.bytes[j] = (uint8_t)byte;
		}
		cr_expect_eq(texts_reader("__FILE__", 8, &key, NULL), TAINT_KNOWN_MACRO, "%s", known[i]);
		key.bytes[KEY_BYTES - 1] ^= 1;
		cr_expect_eq(texts_reader("__FILE__", 8, &key, NULL), TAINT_PATH_MACRO, "%s but for a bit", known[i]);
	}
}

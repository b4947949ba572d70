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
	EACH_STRING(text, cr_assert_eq(scan_macros(text, strlen(text)), SCAN_PATH, "%s", text), "assert(x)",
	            "x=assert(1)", "1;assert (x)", "as\\\nsert(1)", "CubDebugExit(e)", "assert",
	            "static_assert(1);\nassert(x)", "_CCCL_VERIFY(a, b)", "_CCCL_ASSERT_HOST(a, b)");
	EACH_STRING(text, cr_assert_eq(scan_macros(text, strlen(text)), 0, "%s", text), "static_assert(1)",
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

/* Returns the findings of a text that is scanned in pieces of this size. */
static uint32_t in_pieces(const char *text, size_t size, size_t piece, const struct places *places)
{
	uint8_t *buffer = malloc(SCAN_ROOM + piece);
	struct scan scan;

	scan_begin(&scan, places);
	for (size_t at = 0; at < size; at += piece) {
		size_t length = size - at < piece ? size - at : piece;

		memcpy(buffer + SCAN_ROOM, text + at, length);
		scan_piece(&scan, buffer + SCAN_ROOM, length);
	}
	free(buffer);
	return scan.found;
}

Test(scan, a_text_in_pieces_has_the_same_findings_as_the_whole)
{
	struct root root = {"/home/me/v", 10};
	const struct roots roots = {.root = &root, .count = 1};
	const struct places places = {&roots, NULL};
	static const char neither[] = "__TI\nME__ \"/home\n/me/v/\" lib_course_location";
	char text[200];

	for (size_t which = 0; which < COUNT(splices); which++) {
		int size = snprintf(text, sizeof(text), "1234567 __TI%sME__ \"/home%s/me/v/%sa\"", splices[which],
		                    splices[which], splices[which]);

		for (size_t piece = 1; piece <= (size_t)size; piece++) {
			cr_assert_eq(in_pieces(text, (size_t)size, piece, &places), SCAN_TIME | SCAN_PLACE, "%s by %zu",
			             text, piece);
		}
	}
	cr_assert_eq(in_pieces(neither, sizeof(neither) - 1, 3, &places), 0);
}

/* More white space and splices than the scan carries over from one piece to the next. */
Test(scan, a_splice_may_be_longer_than_a_piece)
{
	static char text[80000];
	static const char *const fills[] = {"\\\n", "\\\r\r\r\r\r\r\n", "\r", "\?\?/\n"};

	for (size_t which = 0; which < COUNT(fills); which++) {
		size_t size = (size_t)sprintf(text, "__TI\\");

		while (size < 70000) {
			size += (size_t)sprintf(text + size, "%s", *fills[which] == '\r' ? "\r" : "\n\\");
			if (*fills[which] != '\r') {
				size += (size_t)sprintf(text + size, "\n%s\\", fills[which]);
			}
		}
		size += (size_t)sprintf(text + size, "\nME__");
		for (size_t piece = 4000; piece < 70000; piece += 9001) {
			cr_assert_eq(in_pieces(text, size, piece, NULL), SCAN_TIME, "%zu by %zu", which, piece);
		}
		cr_assert_eq(scan_text(text, size, NULL), SCAN_TIME);
	}
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

/* For any places, which are known only later. */
Test(scan, collected_paths_give_the_same_answer_as_the_text)
{
	static const char *const texts[] = {"a / b // c \"/v/inc/a.h\" //nvidia.com/v/inc/",
	                                    "x/v/inc/y",
	                                    "/v/i\\\r\nnc\?\?/\n/",
	                                    "/v/inc",
	                                    "/v/in /v/incl/ / /",
	                                    "//v/inc//v/inc/x",
	                                    "</v/inc/>",
	                                    ""};
	static const char *const places[] = {"/v/inc", "/v", "/inc", "/nvidia.com", "/nvidia.com/v", "/c"};

	for (size_t i = 0; i < COUNT(texts); i++) {
		struct stream paths = STREAM_EMPTY;

		cr_assert_eq(scan_paths(texts[i], strlen(texts[i]), &paths), 0);
		for (size_t j = 0; j < COUNT(places); j++) {
			const struct roots none = {.count = 0};
			const struct places here = {&none, places[j]};

			cr_expect_eq(scan_text(paths.bytes, paths.size, &here),
			             scan_text(texts[i], strlen(texts[i]), &here), "%s in %s", places[j], texts[i]);
		}
		stream_free(&paths);
	}
}

Test(scan, only_paths_with_one_spelling_are_plain)
{
	cr_assert(scan_spells_plainly("/usr/local/cuda-13.0/include/x86_64+q@(1),%=;'!$&*:", 51));
	cr_assert(scan_spells_plainly("/caf\xc3\xa9", 6));
	EACH_STRING(text, cr_expect_not(scan_spells_plainly(text, 3), "%s", text), "a b", "a\tb", "a\\b", "a?b", "a[b",
	            "a]b", "a{b", "a}b", "a|b", "a~b", "a^b", "a#b", "a<b", "a>b", "a\"b", "a\nb");
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
		cr_expect(known_header(&key), "%s", known[i]);
		key.bytes[KEY_BYTES - 1] ^= 1;
		cr_expect_not(known_header(&key), "%s but for a bit", known[i]);
	}
}

/* SPDX-License-Identifier: MIT */
/* harmless: judged against a list of what a terminal could interpret, for every code point and every wrong sequence */
#include "cache/harmless.h"
#include "tests/unit/support.h"

/* Writes any number below 2^21 in the form of UTF-8, with this many bytes, also where that is not allowed. */
static size_t spell(unsigned code, size_t length, char ret_bytes[5])
{
	static const unsigned char firsts[] = {0, 0, 0xc0, 0xe0, 0xf0};

	for (size_t i = length; i-- > 1; code >>= 6) {
		ret_bytes[i] = (char)(0x80 | (code & 0x3f));
	}
	ret_bytes[0] = (char)(firsts[length] | code);
	ret_bytes[length] = '\0';
	return length;
}

static size_t right_length(unsigned code)
{
	return code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
}

static bool is_a_command(unsigned code)
{
	return code < 0x20 || (code >= 0x7f && code <= 0x9f) || code == 0x61c || code == 0x200e || code == 0x200f ||
	       (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
}

Test(harmless, each_code_point_is_judged_by_the_list)
{
	char bytes[5];
	uint32_t found;

	for (unsigned code = 0; code < 0x200000; code++) {
		size_t length = spell(code, right_length(code), bytes);
		bool is_character = code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);

		cr_assert_eq(utf8_decode(bytes, length, &found), is_character ? length : 0, "U+%04X", code);
		cr_assert(!is_character || found == code, "U+%04X", code);
		cr_assert_eq(harmless_character(bytes, length), is_character && !is_a_command(code) ? length : 0,
		             "U+%04X", code);
	}
}

Test(harmless, longer_forms_than_necessary_are_no_characters)
{
	char bytes[5];

	for (size_t length = 2; length <= 4; length++) {
		for (unsigned code = 0; code < 0x10000 && right_length(code) < length; code++) {
			(void)spell(code, length, bytes);
			cr_assert_eq(harmless_character(bytes, length), 0, "U+%04X in %zu bytes", code, length);
		}
	}
}

Test(harmless, a_character_that_is_cut_is_none)
{
	cr_assert_eq(harmless_character("\xe2\x82\xac", 2), 0);
	cr_assert_eq(harmless_character("\xc3", 1), 0);
	cr_assert_eq(harmless_character("\xc3z", 2), 0);
}

static void becomes(const char *text, const char *wanted)
{
	char copy[64];

	snprintf(copy, sizeof(copy), "%s", text);
	harmless_text(copy);
	cr_expect_str_eq(copy, wanted);
}

Test(harmless, each_byte_of_what_is_harmful_becomes_a_question_mark)
{
	becomes("K\xc3\xb6ln \xe2\x82\xac \xf0\x9f\x98\x80", "K\xc3\xb6ln \xe2\x82\xac \xf0\x9f\x98\x80");
	becomes("\033[2J\r\n\t\x7f", "?[2J????");
	becomes("a\xc2\x9b\x32J", "a??2J");
	becomes("a\xe0\x82\x9b\x32J", "a???2J");
	becomes("a\xe0\x80\x9b", "a???");
	becomes("\xed\xa0\x80\xf4\x90\x80\x80", "???????");
	becomes("\xe2\x80\xae"
	        "exe.txt\xe2\x82",
	        "???exe.txt??");
}

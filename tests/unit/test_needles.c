/* SPDX-License-Identifier: MIT */
/* Spellings as NVRTC 11.8, 12.0, 12.4, 12.9, 13.0 and 13.5 write them for compute_80 and compute_90. */
#include "keygen/needles.h"
#include "tests/unit/support.h"

static bool found_in(const void *text, size_t size, const void *needle, size_t needle_size)
{
	struct needle list[] = {{needle, needle_size, false}};

	needles_search(&(struct needles){list, 1}, text, size);
	return list[0].found;
}

static bool found(const char *text, const char *needle)
{
	return found_in(text, strlen(text), needle, strlen(needle));
}

Test(needles, plain_bytes_are_found_anywhere)
{
	cr_assert(found("/tmp/d/k.cu(3): error", "/tmp/d"));
	cr_assert(found("x /tmp/d", "/tmp/d"));
	cr_assert(found("/tmp/d", "/tmp/d"));
	cr_assert_not(found("/tmp/e/k.cu", "/tmp/d"));
	cr_assert_not(found("/tmp/", "/tmp/d"));
}

Test(needles, an_empty_needle_or_text_is_never_found)
{
	cr_assert_not(found("text", ""));
	cr_assert_not(found("", "needle"));
	cr_assert_not(found("", ""));
}

Test(needles, a_diagnostic_contains_quotes_and_utf8_unescaped)
{
	cr_assert(found("/t/dir \"q\\\xc3\xbc/name.cu(18): warning #1105-D", "/t/dir \"q\\\xc3\xbc"));
}

Test(needles, a_list_of_bytes_is_found)
{
	const char *ptx = ".global .align 1 .b8 $str[18] = {47, 116, 109, 112, 47, 99, 195, 182, 100, 47, 110};";

	cr_assert(found(ptx, "/tmp"));
	cr_assert(found(ptx, "/tmp/c\xc3\xb6"
	                     "d"));
	cr_assert(found(ptx, "/n"));
	cr_assert_not(found(ptx, "/tmq"));
	cr_assert_not(found(ptx, "/nn"));
}

Test(needles, a_list_is_found_however_it_is_wrapped)
{
	EACH_STRING(text, cr_assert(found(text, "/tmp"), "%s", text), "= {47,116,109,112}",
	            "={47 , 116\n\t, 109,\r\n112 }", "= {\n1, 2,\n47, 116,\n109, 112",
	            "= { {1, 2}, {47, 116, 109, 112} };", "= {0x2F, 0x74, 0x6d, 0x70}");
}

Test(needles, wide_strings_are_found_as_zero_interleaved_lists)
{
	cr_assert(found(".align 2 .b8 a[8] = {47, 0, 116, 0, 109, 0, 112};", "/tmp"));
	cr_assert(found(".align 2 .b8 a[8] = {47, 0, 116, 0, 109, 0, 112, 0};", "/tmp"));
	cr_assert(found(".align 4 .b8 a[16] = {47, 0, 0, 0, 116, 0, 0, 0, 109, 0, 0, 0, 112, 0};", "/tmp"));
	cr_assert_not(found(".align 2 .b8 a[8] = {47, 0, 116, 0, 109, 112};", "/tmp"));
}

Test(needles, wide_strings_are_found_as_numbers)
{
	cr_assert(found(".align 2 .u16 a[5] = {999, 47, 116, 109, 112};", "/tmp"));
	cr_assert(found(".align 4 .u32 a[5] = {4294967295, 47, 116, 109, 112};", "/tmp"));
}

Test(needles, words_of_a_structure_with_a_pointer_are_found)
{
	const char *ptx = ".global .align 8 .u64 q[9] = {generic($str), 14079149020009475961, 3343198563620316342, "
	                  "30051, 0, 0, 0, 0, 0};";

	cr_assert(found(ptx, "y/tmp/c\xc3\xb6"
	                     "d/name.cu"));
	cr_assert(found(ptx, "/tmp/c"));
	cr_assert(found(".u64 s[2] = {generic(a)+8, 1886221359, 0};", "/tmp"));
	cr_assert_not(found(ptx, "/tmp/d"));
}

Test(needles, negative_numbers_are_read_as_bytes)
{
	cr_assert(found(".s8 a[3] = {99, -61, -74, 100};", "c\xc3\xb6"
	                                                   "d"));
	cr_assert(found(".s32 a[2] = {-1, -1016909968};", "p/c\xc3"));
	cr_assert_not(found("= {-, -, 99999999999999999999999999, -9223372036854775809}", "/tmp"));
}

Test(needles, a_pointer_or_a_brace_breaks_a_list)
{
	cr_assert_not(found("= {47, 116, generic(x), 109, 112}", "/tmp"));
	cr_assert_not(found("= {47, 116}; = {109, 112}", "/tmp"));
	cr_assert_not(found("f(47, 116, 109, 112)", "/tmp"));
}

Test(needles, wide_strings_are_found_in_binaries)
{
	static const char sixteen[] = "ELF\0\1/\0t\0m\0p\0\0\0";
	static const char thirty_two[] = "ELF\0\1/\0\0\0t\0\0\0m\0\0\0p";

	cr_assert(found_in(sixteen, sizeof(sixteen), "/tmp", 4));
	cr_assert(found_in(sixteen + 5, 8, "/tmp", 4));
	cr_assert(found_in(thirty_two, sizeof(thirty_two), "/tmp", 4));
	cr_assert_not(found_in(thirty_two, sizeof(thirty_two), "/tmq", 4));
}

Test(needles, a_needle_with_any_bytes_is_found)
{
	cr_assert(found_in("a\0b\0c", 5, "\0b", 2));
	cr_assert(found("= {10, 255, 0, 7}", "\n\xff"));
}

/* Returns a PTX list of the text's bytes; the caller frees it. */
static char *list_of(const char *text, size_t size)
{
	char *list = malloc(size * 5 + 16);
	char *at = list;

	cr_assert(list);
	at += sprintf(at, ".b8 x[] = {");
	for (size_t i = 0; i < size; i++) {
		at += sprintf(at, "%s%u", i ? ", " : "", (uint8_t)text[i]);
	}
	strcpy(at, "};");
	return list;
}

Test(needles, a_needle_is_found_across_the_border_of_two_pieces)
{
	static char text[40000];
	const char *needle = "/home/somebody/project";

	for (size_t at = 16000; at < 17000; at += 7) {
		memset(text, '/', sizeof(text));
		memcpy(text + at, needle, strlen(needle));
		char *list = list_of(text, sizeof(text));

		cr_assert(found(list, needle), "at %zu", at);
		free(list);
	}
}

Test(needles, only_the_first_path_max_bytes_of_a_needle_are_searched)
{
	static char text[PATH_MAX * 2];

	memset(text, 'x', sizeof(text));
	char *list = list_of(text, PATH_MAX);

	cr_assert(found_in(list, strlen(list), text, sizeof(text)));
	cr_assert(found_in(text, PATH_MAX, text, sizeof(text)));
	cr_assert_not(found_in(text, PATH_MAX - 1, text, sizeof(text)));
	free(list);
}

Test(needles, hostile_text_is_searched_in_linear_time)
{
	static char text[1 << 20];
	const char *fills[] = {"{", "= {", "= {1,", "={-", "={a(", "  {", "={0x", ",{,{1"};

	/* Quadratic work would take minutes here. */
	for (size_t fill = 0; fill < COUNT(fills); fill++) {
		for (size_t i = 0; i < sizeof(text); i++) {
			text[i] = fills[fill][i % strlen(fills[fill])];
		}
		cr_assert_not(found_in(text, sizeof(text), "/tmp/never", 10));
	}
}

Test(needles, each_of_several_needles_is_found_separately)
{
	static const char *const texts[] = {"/a/b", "/a/bc", "/b", "/a/b", "bc/a", "", "/x/a/b", "/c"};
	struct needle list[8];

	for (size_t mask = 0; mask < 256; mask++) {
		char text[80] = "";

		for (size_t i = 0; i < 8; i++) {
			list[i] = (struct needle){texts[i], strlen(texts[i]), false};
			strcat(strcat(text, mask >> i & 1 ? texts[i] : "/a"), ";");
		}
		needles_search(&(struct needles){list, 8}, text, strlen(text));
		for (size_t i = 0; i < 8; i++) {
			cr_expect_eq(list[i].found, *texts[i] && strstr(text, texts[i]), "%s in %s", texts[i], text);
		}
	}
}

/* SPDX-License-Identifier: MIT */
#include "cache/json.h"
#include "tests/unit/support.h"

static struct json json;

static void set_up(void)
{
	json = (struct json){.bytes = NULL};
}

static void tear_down(void)
{
	json_free(&json);
}

TestSuite(json, .init = set_up, .fini = tear_down);

static void is_text(const char *wanted)
{
	cr_assert(!json.failed);
	cr_assert(json.size == strlen(wanted) && memcmp(json.bytes, wanted, json.size) == 0, "%.*s is not %s",
	          (int)json.size, json.bytes, wanted);
}

static void write_all(void)
{
	json_begin_object(&json, NULL);
	json_string(&json, "name", "a\"b\\c\n");
	json_string(&json, "none", NULL);
	json_begin_array(&json, "list");
	json_number(&json, NULL, INT64_MAX);
	json_number(&json, NULL, INT64_MIN);
	json_begin_object(&json, NULL);
	json_end(&json);
	json_end(&json);
	json_begin_object(&json, "inner");
	json_bool(&json, "yes", true);
	json_bool(&json, "no", false);
	json_end(&json);
	json_thousandths(&json, "us", 1234567);
	json_end(&json);
}

Test(json, all_members_are_on_one_line)
{
	write_all();
	json_end_line(&json);
	is_text("{\"name\":\"a\\\"b\\\\c\\u000a\",\"none\":null,"
	        "\"list\":[9223372036854775807,-9223372036854775808,{}],"
	        "\"inner\":{\"yes\":true,\"no\":false},\"us\":1234.567}\n");
}

Test(json, thousandths_have_three_decimals)
{
	json_begin_array(&json, NULL);
	json_thousandths(&json, NULL, 0);
	json_thousandths(&json, NULL, 7);
	json_end(&json);
	is_text("[0.000,0.007]");
}

Test(json, a_truncated_text_ends_with_a_whole_character)
{
	json_begin_array(&json, NULL);
	json_text_cut(&json, NULL, "ab\xc3\xa4", 4, 3);
	json_text_cut(&json, NULL, "a\x01", 2, 6);
	json_text_cut(&json, NULL, "abc", 3, 0);
	json_end(&json);
	is_text("[\"ab\",\"a\",\"\"]");
}

Test(json, long_texts_grow_the_buffer)
{
	char text[5001];

	memset(text, 'x', sizeof(text));
	text[5000] = '\0';
	json_string(&json, NULL, text);
	cr_assert(!json.failed && json.size == 5002 && json.bytes[0] == '"' && json.bytes[5001] == '"');
	cr_assert(memcmp(json.bytes + 1, text, 5000) == 0);
}

Test(json, invalid_utf8_is_replaced)
{
	json_string(&json, NULL, "\xff\xc3x\xed\xa0\x80");
	is_text("\"\\ufffd\\ufffdx\\ufffd\\ufffd\\ufffd\"");
}

Test(json, what_html_could_interpret_is_escaped)
{
	json_string(&json, NULL, "</a>&\xe2\x80\xa8");
	is_text("\"\\u003c/a\\u003e\\u0026\\u2028\"");
}

Test(json, what_a_terminal_could_interpret_is_escaped)
{
	json_string(&json, NULL, "a\xc2\x9b\xe2\x80\xae\xd8\x9c\xc3\xa9\033");
	is_text("\"a\\u009b\\u202e\\u061c\xc3\xa9\\u001b\"");
}

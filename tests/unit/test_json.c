/* SPDX-License-Identifier: MIT */
#include "cache/json.h"
#include "tests/unit/support.h"

static void is_text(const struct json *json, const char *wanted)
{
	cr_assert(!json->failed);
	cr_assert(json->size == strlen(wanted) && memcmp(json->bytes, wanted, json->size) == 0, "%.*s is not %s",
	          (int)json->size, json->bytes, wanted);
}

static void write_all(struct json *json)
{
	json_begin_object(json, NULL);
	json_string(json, "name", "a\"b\\c\n");
	json_string(json, "none", NULL);
	json_begin_array(json, "list");
	json_number(json, NULL, UINT64_MAX);
	json_integer(json, NULL, INT64_MIN);
	json_begin_object(json, NULL);
	json_end(json);
	json_end(json);
	json_begin_object(json, "inner");
	json_bool(json, "yes", true);
	json_bool(json, "no", false);
	json_end(json);
	json_thousandths(json, "us", 1234567);
	json_end(json);
}

Test(json, outer_levels_have_one_line_per_member)
{
	struct json json = json_growing(JSON_BYTES_KEPT, 1);

	write_all(&json);
	is_text(&json, "{\n  \"name\": \"a\\\"b\\\\c\\u000a\",\n  \"none\": null,\n"
	               "  \"list\": [18446744073709551615, -9223372036854775808, {}],\n"
	               "  \"inner\": {\"yes\": true, \"no\": false},\n  \"us\": 1234.567\n}");
	json_free(&json);
}

Test(json, an_empty_array_stays_on_one_line)
{
	struct json json = json_growing(JSON_BYTES_KEPT, 2);

	json_begin_array(&json, NULL);
	json_begin_array(&json, NULL);
	json_end(&json);
	json_end(&json);
	json_end_line(&json);
	is_text(&json, "[\n  []\n]\n");
	json_free(&json);
}

Test(json, thousandths_have_three_decimals)
{
	char buffer[64];
	struct json json = json_fixed(buffer, sizeof(buffer), JSON_BYTES_KEPT);

	json_begin_array(&json, NULL);
	json_thousandths(&json, NULL, 0);
	json_thousandths(&json, NULL, 7);
	json_thousandths(&json, NULL, -1000);
	json_end(&json);
	is_text(&json, "[0.000,0.007,-1.000]");
}

Test(json, a_full_buffer_fails_permanently)
{
	char buffer[256];
	size_t whole;
	struct json json = json_fixed(buffer, sizeof(buffer), JSON_BYTES_KEPT);

	write_all(&json);
	whole = json.size;
	for (size_t capacity = 0; capacity < whole; capacity++) {
		buffer[capacity] = '#';
		json = json_fixed(buffer, capacity, JSON_BYTES_KEPT);
		write_all(&json);
		cr_assert(json.failed && json.size <= capacity && buffer[capacity] == '#');
	}
	json = json_fixed(buffer, whole, JSON_BYTES_KEPT);
	write_all(&json);
	cr_assert(!json.failed && json.size == whole);
}

Test(json, a_truncated_text_ends_with_a_whole_character)
{
	char buffer[64];
	struct json json = json_fixed(buffer, sizeof(buffer), JSON_BYTES_KEPT);

	json_begin_array(&json, NULL);
	json_text_cut(&json, NULL, "ab\xc3\xa4", 4, 3);
	json_text_cut(&json, NULL, "a\x01", 2, 6);
	json_text_cut(&json, NULL, "abc", 3, 0);
	json_end(&json);
	is_text(&json, "[\"ab\",\"a\",\"\"]");
}

Test(json, pieces_form_one_string)
{
	char buffer[64];
	struct json json = json_fixed(buffer, sizeof(buffer), JSON_BYTES_KEPT);

	json_begin_object(&json, NULL);
	json_begin_string(&json, "options");
	cr_assert(json_add_text(&json, "-a", 2, 9) == 2);
	cr_assert(json_add_text(&json, "\"", 1, 9) == 2);
	json_end_string(&json);
	json_raw(&json, "raw", "[1]", 3);
	json_end(&json);
	is_text(&json, "{\"options\":\"-a\\\"\",\"raw\":[1]}");
}

Test(json, long_texts_grow_the_buffer)
{
	struct json json = json_growing(JSON_BYTES_KEPT, 0);
	char text[5001];

	memset(text, 'x', sizeof(text));
	text[5000] = '\0';
	json_string(&json, NULL, text);
	cr_assert(!json.failed && json.size == 5002 && json.bytes[0] == '"' && json.bytes[5001] == '"');
	cr_assert(memcmp(json.bytes + 1, text, 5000) == 0);
	json_free(&json);
}

Test(json, invalid_utf8_is_written_as_the_mode_says)
{
	static const struct {
		enum json_bytes spelling;
		const char *wanted;
	} cases[] = {
	    {JSON_BYTES_KEPT, "[\"\\udcff<&\xe2\x80\xa8\"]"},
	    {JSON_BYTES_REPLACED, "[\"\\ufffd<&\xe2\x80\xa8\"]"},
	    {JSON_BYTES_SCRIPT, "[\"\\udcff\\u003c\\u0026\\u2028\"]"},
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		char buffer[64];
		struct json json = json_fixed(buffer, sizeof(buffer), cases[i].spelling);

		json_begin_array(&json, NULL);
		json_string(&json, NULL, "\xff<&\xe2\x80\xa8");
		json_end(&json);
		is_text(&json, cases[i].wanted);
	}
}

Test(json, too_deep_nesting_fails)
{
	char buffer[256];
	struct json json = json_fixed(buffer, sizeof(buffer), JSON_BYTES_KEPT);

	for (int i = 0; i < JSON_DEPTH_MAX; i++) {
		json_begin_array(&json, NULL);
	}
	cr_assert(json.failed);
}

/* SPDX-License-Identifier: MIT */
/* Names of values. */
#include "agent/engine/kind.h"
#include "tests/unit/support.h"

#define TEXT_OF(number) #number
#define AS_TEXT(number) TEXT_OF(number)
#define FORMAT          AS_TEXT(ENTRY_FORMAT)

Test(engine_name, each_protocol_has_its_names_for_values)
{
	uint8_t key[ENTRY_KEY_BYTES];
	char text[ENGINE_NAME_MAX];

	memset(key, 0xab, sizeof(key));
	cr_expect_eq(engine_name_redis("p", key, text), strlen(text));
	cr_expect_str_eq(text, "p:3:" FORMAT ":abababababababababababababababababababababababababababababababab");
	engine_name_path("p", key, text);
	cr_expect_str_eq(text, "p/3-" FORMAT "/ab/ababababababababababababababababababababababababababababababab");
	engine_name_bazel("p", key, text);
	cr_expect_eq(strlen(text), 3 + 64);
	cr_expect_eq(strspn(text + 3, "0123456789abcdef"), 64);
}

Test(engine_name, a_digest_depends_on_prefix_and_key)
{
	static const uint8_t one[ENTRY_KEY_BYTES] = {1};
	static const uint8_t other[ENTRY_KEY_BYTES] = {2};
	char names[3][ENGINE_NAME_MAX];

	engine_name_bazel("p", one, names[0]);
	engine_name_bazel("q", one, names[1]);
	engine_name_bazel("p", other, names[2]);
	cr_expect_str_neq(names[0], names[1]);
	cr_expect_str_neq(names[0], names[2]);
	cr_expect_str_neq(names[1], names[2]);
}

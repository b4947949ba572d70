/* SPDX-License-Identifier: MIT */
/* Names of values. */
#include "agent/engine/kind.h"
#include "tests/unit/support.h"

static struct engine_name name_of(uint8_t byte, unsigned format)
{
	struct engine_name name = {.format = format};

	memset(name.key, byte, sizeof(name.key));
	return name;
}

Test(engine_name, each_protocol_has_its_names_for_values)
{
	const struct engine_name name = name_of(0xab, 3);
	char text[ENGINE_NAME_MAX];

	cr_expect_eq(engine_name_redis("p", &name, text), strlen(text));
	cr_expect_str_eq(text, "p:3:3:abababababababababababababababababababababababababababababababab");
	engine_name_path("p", &name, text);
	cr_expect_str_eq(text, "p/3-3/ab/ababababababababababababababababababababababababababababababab");
	engine_name_bazel("p", &name, text);
	cr_expect_eq(strlen(text), 3 + 64);
	cr_expect_eq(strspn(text + 3, "0123456789abcdef"), 64);
}

/* The digest depends on prefix, format and key. */
Test(engine_name, a_digest_depends_on_prefix_format_and_key)
{
	const struct engine_name one = name_of(1, 1);
	const struct engine_name other_key = name_of(2, 1);
	const struct engine_name other_format = name_of(1, 2);
	char names[4][ENGINE_NAME_MAX];

	engine_name_bazel("p", &one, names[0]);
	engine_name_bazel("q", &one, names[1]);
	engine_name_bazel("p", &other_key, names[2]);
	engine_name_bazel("p", &other_format, names[3]);
	for (size_t i = 0; i < 4; i++) {
		for (size_t j = 0; j < i; j++) {
			cr_expect_str_neq(names[i], names[j]);
		}
	}
}

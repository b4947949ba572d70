/* SPDX-License-Identifier: MIT */
#include "agent/engine/name.h"

#include <blake2.h>
#include <stdio.h>
#include <string.h>

#define VERSION   2
#define HEX_BYTES 65

static const char *print_hex(const uint8_t bytes[32], char ret_text[HEX_BYTES])
{
	for (size_t i = 0; i < 32; i++) {
		(void)snprintf(ret_text + 2 * i, 3, "%02x", bytes[i]);
	}
	return ret_text;
}

size_t engine_name_redis(const char *prefix, const struct engine_name *name, char ret_name[ENGINE_NAME_MAX])
{
	char digits[HEX_BYTES];

	return (size_t)snprintf(ret_name, ENGINE_NAME_MAX, "%s:%d:%u:%s", prefix, VERSION, name->format,
	                        print_hex(name->key, digits));
}

/*
 * A folder for the first byte, as in the cache directory: no directory of an HTTP server or share gets too many
 * files.
 */
void engine_name_path(const char *prefix, const struct engine_name *name, char ret_name[ENGINE_NAME_MAX])
{
	char digits[HEX_BYTES];

	print_hex(name->key, digits);
	(void)snprintf(ret_name, ENGINE_NAME_MAX, "%s/%d-%u/%.2s/%s", prefix, VERSION, name->format, digits,
	               digits + 2);
}

void engine_name_digest(const char *prefix, const struct engine_name *name, uint8_t ret_digest[ENGINE_NAME_DIGEST])
{
	char text[ENGINE_NAME_MAX];
	size_t size = engine_name_redis(prefix, name, text);

	(void)blake2b(ret_digest, text, NULL, ENGINE_NAME_DIGEST, size, 0);
}

void engine_name_bazel(const char *prefix, const struct engine_name *name, char ret_name[ENGINE_NAME_MAX])
{
	uint8_t digest[ENGINE_NAME_DIGEST];
	char digits[HEX_BYTES];

	engine_name_digest(prefix, name, digest);
	(void)snprintf(ret_name, ENGINE_NAME_MAX, "ac/%s", print_hex(digest, digits));
}

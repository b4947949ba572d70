/* SPDX-License-Identifier: MIT */
/*
 * Two nodes must use the same name for a value, also if their versions differ. Therefore everything that changes the
 * meaning of a value is part of its name.
 */
#include "agent/engine/name.h"

#include "cache/digits.h"

#include <blake2.h>
#include <stdio.h>
#include <string.h>

#define VERSION 2

size_t engine_name_redis(const char *prefix, const struct engine_name *name, char ret_name[ENGINE_NAME_MAX])
{
	char digits[DIGITS_BYTES(sizeof(name->key))];

	return (size_t)snprintf(ret_name, ENGINE_NAME_MAX, "%s:%d:%u:%s", prefix, VERSION, name->format,
	                        digits_spell(name->key, sizeof(name->key), digits));
}

/*
 * The first byte of the key names a subdirectory, as in the cache directory, so that no directory of an HTTP server or
 * share gets too many files.
 */
void engine_name_path(const char *prefix, const struct engine_name *name, char ret_name[ENGINE_NAME_MAX])
{
	char digits[DIGITS_BYTES(sizeof(name->key))];

	(void)digits_spell(name->key, sizeof(name->key), digits);
	(void)snprintf(ret_name, ENGINE_NAME_MAX, "%s/%d-%u/%.2s/%s", prefix, VERSION, name->format, digits,
	               digits + 2);
}

/* The digest is that of the Redis name, which contains version, format and prefix. */
void engine_name_digest(const char *prefix, const struct engine_name *name, uint8_t ret_digest[ENGINE_NAME_DIGEST])
{
	char text[ENGINE_NAME_MAX];
	size_t size = engine_name_redis(prefix, name, text);

	(void)blake2b(ret_digest, text, NULL, ENGINE_NAME_DIGEST, size, 0);
}

void engine_name_bazel(const char *prefix, const struct engine_name *name, char ret_name[ENGINE_NAME_MAX])
{
	uint8_t digest[ENGINE_NAME_DIGEST];
	char digits[DIGITS_BYTES(sizeof(name->key))];

	engine_name_digest(prefix, name, digest);
	(void)snprintf(ret_name, ENGINE_NAME_MAX, "ac/%s", digits_spell(digest, sizeof(digest), digits));
}

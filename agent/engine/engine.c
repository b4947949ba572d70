/* SPDX-License-Identifier: MIT */
/*
 * Each call of engine.h is forwarded to the kind that the scheme of the address selected. This file also contains the
 * functions that all kinds share: texts without control characters, deadlines, names.
 */
#include "agent/engine/engine.h"

#include "agent/engine/kind.h"
#include "cache/digits.h"
#include "cache/harmless.h"

#include <blake2.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct engine_kind *const kinds[] = {
    [ADDRESS_DIR] = &engine_kind_dir,
    [ADDRESS_HTTP] = &engine_kind_http,
    [ADDRESS_REDIS] = &engine_kind_redis,
    [ADDRESS_S3] = &engine_kind_s3,
};

/* engine_close() also frees what a kind has allocated before it failed. */
int engine_open(const struct engine_options *options, struct engine **ret_engine, struct engine_error *ret_error)
{
	struct engine_address address;
	struct engine *engine;
	const char *words;
	int error;

	ret_error->text[0] = '\0';
	error = engine_address_parse(options->address != NULL ? options->address : "", &address, &words);
	if (error != 0) {
		engine_tell(ret_error, "the engine's address: %s", words);
		return error;
	}
	engine = calloc(1, kinds[address.kind]->size);
	if (engine == NULL) {
		return -ENOMEM;
	}
	engine->kind = kinds[address.kind];
	engine->options = options;
	engine->prefix = options->prefix != NULL ? options->prefix : "nvrtccache";
	error = engine->kind->open(engine, &address, ret_error);
	if (error != 0) {
		engine_close(engine);
		return error;
	}
	*ret_engine = engine;
	return 0;
}

/* Accepts NULL, which simplifies the clean-up after a failure. */
void engine_close(struct engine *engine)
{
	if (engine != NULL) {
		engine->kind->close(engine);
		free(engine);
	}
}

const char *engine_says(const struct engine *engine)
{
	return engine->says;
}

enum engine_answer engine_get(struct engine *engine, const struct engine_name *name, unsigned limit_ms,
                              void **ret_value, size_t *ret_size, struct engine_error *ret_error)
{
	ret_error->text[0] = '\0';
	return engine->kind->get(engine, name, limit_ms, ret_value, ret_size, ret_error);
}

enum engine_answer engine_has(struct engine *engine, const struct engine_name *name, unsigned limit_ms,
                              struct engine_error *ret_error)
{
	ret_error->text[0] = '\0';
	return engine->kind->has(engine, name, limit_ms, ret_error);
}

/* A value that is too large for readers is not sent. */
enum engine_answer engine_put(struct engine *engine, const struct engine_name *name, const void *value, size_t size,
                              unsigned limit_ms, struct engine_error *ret_error)
{
	ret_error->text[0] = '\0';
	if (size > ENGINE_VALUE_MAX) {
		engine_tell(ret_error, "the value has %zu bytes, and at most %u are sent", size, ENGINE_VALUE_MAX);
		return ENGINE_TOO_LARGE;
	}
	return engine->kind->put(engine, name, value, size, limit_ms, ret_error);
}

enum engine_answer engine_probe(struct engine *engine, unsigned limit_ms, struct engine_error *ret_error)
{
	ret_error->text[0] = '\0';
	return engine->kind->probe(engine, limit_ms, ret_error);
}

/* ---- functions for all kinds (kind.h) */

/* Harmful characters are replaced, because texts are printed on terminals and may contain bytes from a server. */
static void write_text(char *ret_text, size_t size, const char *format, va_list arguments)
{
	vsnprintf(ret_text, size, format, arguments);
	harmless_text(ret_text);
}

void engine_say(struct engine *engine, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	write_text(engine->says, sizeof(engine->says), format, arguments);
	va_end(arguments);
}

void engine_tell(struct engine_error *error, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	write_text(error->text, sizeof(error->text), format, arguments);
	va_end(arguments);
}

int engine_refuse(struct engine_error *error, const char *words)
{
	engine_tell(error, "%s", words);
	return -EINVAL;
}

/* All steps of a call share one deadline, because separate limits for each step would add up. */
struct timespec engine_deadline(unsigned limit_ms)
{
	struct timespec when;

	clock_gettime(CLOCK_MONOTONIC, &when);
	when.tv_sec += limit_ms / 1000;
	when.tv_nsec += (long)(limit_ms % 1000) * 1000000;
	if (when.tv_nsec >= 1000000000) {
		when.tv_sec++;
		when.tv_nsec -= 1000000000;
	}
	return when;
}

/* 0 means that the deadline has passed, and never that there is no limit. */
unsigned engine_left_ms(const struct timespec *deadline)
{
	struct timespec now;
	long long left;

	clock_gettime(CLOCK_MONOTONIC, &now);
	left = (long long)(deadline->tv_sec - now.tv_sec) * 1000 + (deadline->tv_nsec - now.tv_nsec) / 1000000;
	return left > 0 ? (unsigned)left : 0;
}

/* ---- names of values (kind.h) */

/*
 * Two nodes must use the same name for a value, also if their versions differ. Therefore everything that changes the
 * meaning of a value is part of its name.
 */
#define NAMING 2

size_t engine_name_redis(const char *prefix, const struct engine_name *name, char ret_name[ENGINE_NAME_MAX])
{
	char digits[DIGITS_BYTES(sizeof(name->key))];

	return (size_t)snprintf(ret_name, ENGINE_NAME_MAX, "%s:%d:%u:%s", prefix, NAMING, name->format,
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
	(void)snprintf(ret_name, ENGINE_NAME_MAX, "%s/%d-%u/%.2s/%s", prefix, NAMING, name->format, digits, digits + 2);
}

/* The digest is that of the Redis name, which contains version, format and prefix. */
void engine_name_bazel(const char *prefix, const struct engine_name *name, char ret_name[ENGINE_NAME_MAX])
{
	char text[ENGINE_NAME_MAX];
	size_t size = engine_name_redis(prefix, name, text);
	uint8_t digest[32];
	char digits[DIGITS_BYTES(sizeof(digest))];

	(void)blake2b(digest, text, NULL, sizeof(digest), size, 0);
	(void)snprintf(ret_name, ENGINE_NAME_MAX, "ac/%s", digits_spell(digest, sizeof(digest), digits));
}

/* SPDX-License-Identifier: MIT */
#include "cache/json.h"

#include "cache/harmless.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ESCAPE_MAX  6  /* \u001f */
#define NUMBER_MAX  24 /* 18446744073709551.615 */
#define FIRST_BYTES 512

static size_t put_code(char *to, unsigned code)
{
	static const char digit[] = "0123456789abcdef";

	to[0] = '\\';
	to[1] = 'u';
	for (int i = 0; i < 4; i++) {
		to[2 + i] = digit[code >> (12 - 4 * i) & 15];
	}
	return ESCAPE_MAX;
}

/* Writes the first character, or a byte that is not UTF-8. Returns how many bytes were written. */
static size_t spell_character(char *to, const char *at, size_t size, enum json_bytes bytes, size_t *ret_length)
{
	uint32_t code;
	const size_t length = utf8_decode(at, size, &code);

	*ret_length = length > 0 ? length : 1;
	if (length == 0) {
		return put_code(to, bytes == JSON_BYTES_REPLACED ? 0xfffd : 0xdc00u + (unsigned char)*at);
	}
	if (*at == '"' || *at == '\\') {
		to[0] = '\\';
		to[1] = *at;
		return 2;
	}
	/* U+2028 and U+2029, which end a line in scripts, are among the harmful characters */
	if (harmless_character(at, length) == 0 || (bytes == JSON_BYTES_SCRIPT && strchr("<>&", *at))) {
		return put_code(to, code);
	}
	memcpy(to, at, length);
	return length;
}

/* Most characters are written as they are, and are not looked at further. */
static bool is_plain(char byte, enum json_bytes bytes)
{
	return byte >= 0x20 && byte < 0x7f && byte != '"' && byte != '\\' &&
	       (bytes != JSON_BYTES_SCRIPT || !strchr("<>&", byte));
}

struct json json_fixed(char *buffer, size_t capacity, enum json_bytes spelling)
{
	return (struct json){.bytes = buffer, .capacity = capacity, .spelling = spelling};
}

struct json json_growing(enum json_bytes spelling)
{
	return (struct json){.spelling = spelling, .grows = true};
}

void json_free(struct json *json)
{
	if (json->grows) {
		free(json->bytes);
	}
	*json = (struct json){.failed = true};
}

static bool make_room(struct json *json, size_t size)
{
	size_t capacity = json->capacity;
	char *grown;

	if (size > json->capacity - json->size && json->grows && !json->failed) {
		while (size > capacity - json->size) {
			capacity = capacity ? 2 * capacity : FIRST_BYTES;
		}
		grown = realloc(json->bytes, capacity);
		if (grown) {
			json->bytes = grown;
			json->capacity = capacity;
		}
	}
	json->failed |= size > json->capacity - json->size;
	return !json->failed;
}

static void put_bytes(struct json *json, const char *bytes, size_t size)
{
	if (make_room(json, size)) {
		memcpy(json->bytes + json->size, bytes, size);
		json->size += size;
	}
}

static void put_text(struct json *json, const char *text)
{
	put_bytes(json, text, strlen(text));
}

/* Writes the content of a string, as many whole characters as fit in `most` bytes. */
static void put_escaped(struct json *json, const char *text, size_t size, size_t most)
{
	const char *at = text, *end = text + size;

	while (at < end && !json->failed) {
		char one[ESCAPE_MAX];
		size_t plain = 0, length, needed;

		while (at + plain < end && plain < most && is_plain(at[plain], json->spelling)) {
			plain++;
		}
		put_bytes(json, at, plain);
		at += plain;
		most -= plain;
		if (at == end) {
			break;
		}
		needed = spell_character(one, at, (size_t)(end - at), json->spelling, &length);
		if (needed > most) {
			break;
		}
		put_bytes(json, one, needed);
		most -= needed;
		at += length;
	}
}

/* Writes what precedes a member: a comma, its name. */
static void begin_member(struct json *json, const char *name)
{
	if (json->comma) {
		put_text(json, ",");
	}
	json->comma = json->depth > 0;
	if (name) {
		put_text(json, "\"");
		put_escaped(json, name, strlen(name), SIZE_MAX);
		put_text(json, "\":");
	}
}

static void begin_level(struct json *json, const char *name, const char *bracket)
{
	begin_member(json, name);
	put_text(json, bracket);
	json->comma = false;
	json->depth++;
	json->failed |= json->depth >= JSON_DEPTH_MAX;
	json->arrays = json->arrays << 1 | (*bracket == '[');
}

void json_begin_object(struct json *json, const char *name)
{
	begin_level(json, name, "{");
}

void json_begin_array(struct json *json, const char *name)
{
	begin_level(json, name, "[");
}

void json_end(struct json *json)
{
	put_text(json, json->arrays & 1 ? "]" : "}");
	json->arrays >>= 1;
	json->depth--;
	json->comma = json->depth > 0;
}

void json_text_cut(struct json *json, const char *name, const void *text, size_t size, size_t most)
{
	begin_member(json, name);
	put_text(json, "\"");
	put_escaped(json, text, size, most);
	put_text(json, "\"");
}

void json_text(struct json *json, const char *name, const void *text, size_t size)
{
	json_text_cut(json, name, text, size, SIZE_MAX);
}

void json_string(struct json *json, const char *name, const char *text)
{
	if (text) {
		json_text(json, name, text, strlen(text));
	} else {
		json_null(json, name);
	}
}

__attribute__((format(printf, 3, 4))) static void add_number(struct json *json, const char *name, const char *format,
                                                             ...)
{
	char text[NUMBER_MAX];
	va_list numbers;

	va_start(numbers, format);
	(void)vsnprintf(text, sizeof(text), format, numbers);
	va_end(numbers);
	begin_member(json, name);
	put_text(json, text);
}

void json_number(struct json *json, const char *name, uint64_t number)
{
	add_number(json, name, "%" PRIu64, number);
}

void json_integer(struct json *json, const char *name, int64_t number)
{
	add_number(json, name, "%" PRId64, number);
}

void json_thousandths(struct json *json, const char *name, uint64_t number)
{
	add_number(json, name, "%" PRIu64 ".%03" PRIu64, number / 1000, number % 1000);
}

void json_bool(struct json *json, const char *name, bool value)
{
	begin_member(json, name);
	put_text(json, value ? "true" : "false");
}

void json_null(struct json *json, const char *name)
{
	begin_member(json, name);
	put_text(json, "null");
}

void json_end_line(struct json *json)
{
	put_text(json, "\n");
}

/* SPDX-License-Identifier: MIT */
#include "cache/json.h"

#include "cache/harmless.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ESCAPE_MAX  6  /* \u001f */
#define NUMBER_MAX  24 /* 18446744073709551.615 */
#define FIRST_BYTES 512

/*
 * Writes the first character, and the replacement character for a byte that is not UTF-8. Returns how many bytes were
 * written; `ret_length`: of how many bytes of the text.
 */
static size_t spell_character(char to[ESCAPE_MAX + 1], const char *at, size_t size, size_t *ret_length)
{
	uint32_t code = 0;
	const size_t length = utf8_decode(at, size, &code);

	*ret_length = length > 0 ? length : 1;
	if (*at == '"' || *at == '\\') {
		to[0] = '\\';
		to[1] = *at;
		return 2;
	}
	/* U+2028 and U+2029, which end a line in scripts, are among the harmful characters; <>& could end an element */
	if (harmless_character(at, size) == 0 || strchr("<>&", *at)) {
		return (size_t)snprintf(to, ESCAPE_MAX + 1, "\\u%04x", (unsigned)(length > 0 ? code : 0xfffd));
	}
	memcpy(to, at, length);
	return length;
}

void json_free(struct json *json)
{
	free(json->bytes);
	*json = (struct json){.failed = true};
}

static bool make_room(struct json *json, size_t size)
{
	size_t capacity = json->capacity;
	char *grown;

	if (size > json->capacity - json->size && !json->failed) {
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
static void put_escaped(struct json *json, const char *at, size_t size, size_t most)
{
	char one[ESCAPE_MAX + 1];
	size_t length, needed;

	for (; size > 0 && (needed = spell_character(one, at, size, &length)) <= most; at += length, size -= length) {
		put_bytes(json, one, needed);
		most -= needed;
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

static void add_plain(struct json *json, const char *name, const char *text)
{
	begin_member(json, name);
	put_text(json, text);
}

void json_string(struct json *json, const char *name, const char *text)
{
	if (text) {
		json_text(json, name, text, strlen(text));
	} else {
		add_plain(json, name, "null");
	}
}

void json_number(struct json *json, const char *name, int64_t number)
{
	char text[NUMBER_MAX];

	(void)snprintf(text, sizeof(text), "%" PRId64, number);
	add_plain(json, name, text);
}

void json_thousandths(struct json *json, const char *name, uint64_t number)
{
	char text[NUMBER_MAX];

	(void)snprintf(text, sizeof(text), "%" PRIu64 ".%03" PRIu64, number / 1000, number % 1000);
	add_plain(json, name, text);
}

void json_bool(struct json *json, const char *name, bool value)
{
	add_plain(json, name, value ? "true" : "false");
}

void json_end_line(struct json *json)
{
	put_text(json, "\n");
}

/* SPDX-License-Identifier: MIT */
#include "cache/json.h"

#include "cache/harmless.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ESCAPE_MAX   6  /* \u001f */
#define NUMBER_MAX   24 /* -9223372036854775.808 */
#define FIRST_BYTES  512
#define INDENT_BYTES 2

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

/* Returns the code point of a well-formed character of at most three bytes. */
static unsigned decode_character(const unsigned char *at, size_t length)
{
	if (length == 1) {
		return at[0];
	}
	return length == 2 ? (at[0] & 0x1fu) << 6 | (at[1] & 0x3fu)
	                   : (at[0] & 0xfu) << 12 | (at[1] & 0x3fu) << 6 | (at[2] & 0x3fu);
}

/* Writes one character of `length` bytes. 0: the byte is not UTF-8. Returns how many bytes were written. */
static size_t spell_character(char *to, const unsigned char *at, size_t length, enum json_bytes bytes)
{
	if (length == 0) {
		return put_code(to, bytes == JSON_BYTES_REPLACED ? 0xfffd : 0xdc00u + *at);
	}
	if (*at == '"' || *at == '\\') {
		to[0] = '\\';
		to[1] = (char)*at;
		return 2;
	}
	/* U+2028 and U+2029, which end a line in scripts, are among the harmful characters */
	if (harmless_character((const char *)at, length) == 0 || (bytes == JSON_BYTES_SCRIPT && strchr("<>&", *at))) {
		return put_code(to, decode_character(at, length));
	}
	memcpy(to, at, length);
	return length;
}

/* Most characters are written as they are, and are not looked at further. */
static bool is_plain(unsigned char byte, enum json_bytes bytes)
{
	return byte >= 0x20 && byte < 0x7f && byte != '"' && byte != '\\' && bytes != JSON_BYTES_SCRIPT;
}

/*
 * Writes the content of a string without quotes and without a NUL, as many whole characters as fit in `capacity` bytes.
 * `ret_taken` is the number of bytes of `text` that were used. Returns how many bytes were written.
 */
static size_t escape_text(char *ret_escaped, size_t capacity, const char *text, size_t size, enum json_bytes bytes,
                          size_t *ret_taken)
{
	const unsigned char *at = (const unsigned char *)text;
	const unsigned char *end = at + size;
	size_t written = 0;

	while (at < end) {
		char one[ESCAPE_MAX];
		size_t length, needed;

		if (written < capacity && is_plain(*at, bytes)) {
			ret_escaped[written++] = (char)*at++;
			continue;
		}
		length = utf8_length((const char *)at, (size_t)(end - at));
		needed = spell_character(one, at, length, bytes);
		if (needed > capacity - written) {
			break;
		}
		memcpy(ret_escaped + written, one, needed);
		written += needed;
		at += length > 0 ? length : 1;
	}
	*ret_taken = (size_t)(at - (const unsigned char *)text);
	return written;
}

struct json json_fixed(char *buffer, size_t capacity, enum json_bytes spelling)
{
	return (struct json){.bytes = buffer, .capacity = capacity, .spelling = spelling};
}

struct json json_growing(enum json_bytes spelling, unsigned lines)
{
	return (struct json){.spelling = spelling, .lines = lines, .grows = true};
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

static void break_line(struct json *json)
{
	size_t blanks = (size_t)INDENT_BYTES * json->depth;

	put_text(json, "\n");
	if (make_room(json, blanks)) {
		memset(json->bytes + json->size, ' ', blanks);
		json->size += blanks;
	}
}

/* Writes what precedes a member: a comma, a line break, its name. */
static void begin_member(struct json *json, const char *name)
{
	uint32_t level = UINT32_C(1) << (json->depth % JSON_DEPTH_MAX);

	if (json->depth > 0) {
		if (json->filled & level) {
			put_text(json, json->depth > json->lines && json->lines > 0 ? ", " : ",");
		}
		if (json->depth <= json->lines) {
			break_line(json);
		}
	}
	json->filled |= level;
	if (name) {
		put_text(json, "\"");
		(void)json_add_text(json, name, strlen(name), SIZE_MAX);
		put_text(json, json->lines > 0 ? "\": " : "\":");
	}
}

static void begin_level(struct json *json, const char *name, const char *bracket)
{
	uint32_t level;

	begin_member(json, name);
	put_text(json, bracket);
	json->depth++;
	json->failed |= json->depth >= JSON_DEPTH_MAX;
	level = UINT32_C(1) << (json->depth % JSON_DEPTH_MAX);
	json->filled &= ~level;
	json->arrays = *bracket == '[' ? json->arrays | level : json->arrays & ~level;
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
	uint32_t level = UINT32_C(1) << (json->depth % JSON_DEPTH_MAX);
	bool on_lines = json->depth <= json->lines && (json->filled & level);

	json->depth--;
	if (on_lines) {
		break_line(json);
	}
	put_text(json, json->arrays & level ? "]" : "}");
}

void json_begin_string(struct json *json, const char *name)
{
	begin_member(json, name);
	put_text(json, "\"");
}

size_t json_add_text(struct json *json, const void *text, size_t size, size_t most)
{
	const char *at = text, *end = at + size;
	size_t written = 0, one = 1;

	while (at < end && one > 0 && !json->failed) {
		char escaped[128];
		size_t taken, room = most - written < sizeof(escaped) ? most - written : sizeof(escaped);

		one = escape_text(escaped, room, at, (size_t)(end - at), json->spelling, &taken);
		put_bytes(json, escaped, one);
		written += one;
		at += taken;
	}
	return written;
}

void json_end_string(struct json *json)
{
	put_text(json, "\"");
}

void json_text_cut(struct json *json, const char *name, const void *text, size_t size, size_t most)
{
	json_begin_string(json, name);
	(void)json_add_text(json, text, size, most);
	json_end_string(json);
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

void json_raw(struct json *json, const char *name, const char *text, size_t size)
{
	begin_member(json, name);
	put_bytes(json, text, size);
}

void json_number(struct json *json, const char *name, uint64_t number)
{
	char text[NUMBER_MAX];

	json_raw(json, name, text, (size_t)snprintf(text, sizeof(text), "%" PRIu64, number));
}

void json_integer(struct json *json, const char *name, int64_t number)
{
	char text[NUMBER_MAX];

	json_raw(json, name, text, (size_t)snprintf(text, sizeof(text), "%" PRId64, number));
}

void json_thousandths(struct json *json, const char *name, int64_t number)
{
	uint64_t size = number < 0 ? -(uint64_t)number : (uint64_t)number;
	char text[NUMBER_MAX];

	json_raw(json, name, text,
	         (size_t)snprintf(text, sizeof(text), "%s%" PRIu64 ".%03" PRIu64, number < 0 ? "-" : "", size / 1000,
	                          size % 1000));
}

void json_bool(struct json *json, const char *name, bool value)
{
	json_raw(json, name, value ? "true" : "false", value ? 4 : 5);
}

void json_null(struct json *json, const char *name)
{
	json_raw(json, name, "null", 4);
}

void json_end_line(struct json *json)
{
	put_text(json, "\n");
}

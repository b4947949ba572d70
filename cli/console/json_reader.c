/* SPDX-License-Identifier: MIT */
/*
 * A recursive-descent parser over the text in memory. Each take_...() function moves `at` past the text that it read,
 * or returns false.
 * An early end of the text is not an error of a trace, because a program that is killed leaves a trace that may end
 * anywhere. `what` distinguishes the two cases: wrong() sets it only if there is text left.
 */
#include "cli/console/json_reader.h"

#include "cache/json.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool wrong(struct json_reader *reader, const char *what)
{
	if (reader->at < reader->end) {
		reader->what = what;
	}
	return false;
}

static void skip_blanks(struct json_reader *reader)
{
	while (reader->at < reader->end && memchr(" \t\r\n", *reader->at, 4) != NULL) {
		reader->at++;
	}
}

static bool is_next(struct json_reader *reader, char wanted)
{
	skip_blanks(reader);
	return reader->at < reader->end && *reader->at == wanted;
}

static bool take(struct json_reader *reader, char wanted, const char *what)
{
	if (!is_next(reader, wanted)) {
		return wrong(reader, what);
	}
	reader->at++;
	return true;
}

static bool take_word(struct json_reader *reader, const char *word)
{
	for (; *word != '\0'; word++, reader->at++) {
		if (reader->at == reader->end || *reader->at != *word) {
			return wrong(reader, "a value was expected");
		}
	}
	return true;
}

static bool take_escape(struct json_reader *reader)
{
	reader->at++;
	if (reader->at == reader->end) {
		return false;
	}
	/* surrogates are not checked for pairs, because readers get the string with its escapes unchanged */
	if (*reader->at != 'u') {
		if (memchr("\"\\/bfnrt", *reader->at, 8) == NULL) {
			return wrong(reader, "no such escape");
		}
		reader->at++;
		return true;
	}
	reader->at++;
	for (int i = 0; i < 4; i++, reader->at++) {
		if (reader->at == reader->end || memchr("0123456789abcdefABCDEF", *reader->at, 22) == NULL) {
			return wrong(reader, "four hexadecimal digits were expected");
		}
	}
	return true;
}

static bool take_string(struct json_reader *reader)
{
	if (!take(reader, '"', "a string was expected")) {
		return false;
	}
	while (reader->at < reader->end && *reader->at != '"') {
		if (*reader->at == '\\') {
			if (!take_escape(reader)) {
				return false;
			}
		} else if ((unsigned char)*reader->at < 0x20) {
			return wrong(reader, "a control character in a string");
		} else {
			size_t left = (size_t)(reader->end - reader->at);
			size_t length = json_character(reader->at, left);

			/* with fewer than 4 bytes left, the text may have been cut within a character */
			if (length == 0) {
				return left >= 4 && wrong(reader, "not UTF-8");
			}
			reader->at += length;
		}
	}
	if (reader->at == reader->end) {
		return false;
	}
	reader->at++;
	return true;
}

static bool take_digits(struct json_reader *reader)
{
	const char *begin = reader->at;

	while (reader->at < reader->end && *reader->at >= '0' && *reader->at <= '9') {
		reader->at++;
	}
	return reader->at > begin || wrong(reader, "a digit was expected");
}

static bool is_one_of(const struct json_reader *reader, const char *characters)
{
	return reader->at < reader->end && strchr(characters, *reader->at) != NULL && *reader->at != '\0';
}

static bool take_number(struct json_reader *reader)
{
	if (is_one_of(reader, "-")) {
		reader->at++;
	}
	/* JSON allows no digit after a leading 0 */
	if (is_one_of(reader, "0")) {
		reader->at++;
	} else if (!take_digits(reader)) {
		return false;
	}
	if (is_one_of(reader, ".")) {
		reader->at++;
		if (!take_digits(reader)) {
			return false;
		}
	}
	if (is_one_of(reader, "eE")) {
		reader->at++;
		if (is_one_of(reader, "+-")) {
			reader->at++;
		}
		return take_digits(reader);
	}
	return true;
}

static bool take_value(struct json_reader *reader, unsigned depth);

/* Reads an object or an array. */
static bool take_nested(struct json_reader *reader, unsigned depth)
{
	char closing = *reader->at == '{' ? '}' : ']';

	/* each level takes a nested call, so a malicious text could otherwise exhaust the stack */
	if (depth == JSON_READER_DEPTH) {
		return wrong(reader, "nested too deeply");
	}
	reader->at++;
	if (is_next(reader, closing)) {
		reader->at++;
		return true;
	}
	for (;;) {
		if (closing == '}' && !(take_string(reader) && take(reader, ':', "a colon was expected"))) {
			return false;
		}
		if (!take_value(reader, depth + 1)) {
			return false;
		}
		if (is_next(reader, closing)) {
			reader->at++;
			return true;
		}
		if (!take(reader, ',', "a comma was expected")) {
			return false;
		}
	}
}

static bool take_value(struct json_reader *reader, unsigned depth)
{
	skip_blanks(reader);
	if (is_one_of(reader, "\"")) {
		return take_string(reader);
	}
	if (is_one_of(reader, "{[")) {
		return take_nested(reader, depth);
	}
	if (is_one_of(reader, "-0123456789")) {
		return take_number(reader);
	}
	/* for any other letter take_word() reports the error, because the text is not "null" */
	return take_word(reader, is_one_of(reader, "t") ? "true" : is_one_of(reader, "f") ? "false" : "null");
}

static struct span span_since(const struct json_reader *reader, const char *begin)
{
	return (struct span){begin, (size_t)(reader->at - begin)};
}

bool json_reader_value(struct json_reader *reader, struct span *ret_value)
{
	const char *begin;

	skip_blanks(reader);
	begin = reader->at;
	if (!take_value(reader, 0)) {
		return false;
	}
	*ret_value = span_since(reader, begin);
	return true;
}

struct json_reader json_reader_members(struct span value)
{
	const char *at = value.bytes;
	bool has_any = value.size > 0 && (*at == '{' || *at == '[');

	return (struct json_reader){
	    .at = has_any ? at + 1 : at, .end = has_any ? at + value.size - 1 : at, .in_object = has_any && *at == '{'};
}

bool json_reader_next(struct json_reader *members, struct span *ret_name, struct span *ret_value)
{
	const char *begin;

	*ret_name = (struct span){NULL, 0};
	if (is_next(members, ',')) {
		members->at++;
	}
	skip_blanks(members);
	begin = members->at;
	if (members->in_object && take_string(members)) {
		*ret_name = json_reader_string(span_since(members, begin));
		(void)take(members, ':', "");
	}
	return json_reader_value(members, ret_value);
}

struct span json_reader_member(struct span object, const char *name)
{
	struct json_reader members = json_reader_members(object);
	struct span found, value;

	while (json_reader_next(&members, &found, &value)) {
		if (found.size == strlen(name) && memcmp(found.bytes, name, found.size) == 0) {
			return value;
		}
	}
	return (struct span){NULL, 0};
}

struct span json_reader_string(struct span value)
{
	const char *at = value.bytes;

	return value.size > 0 && *at == '"' ? (struct span){at + 1, value.size - 2} : (struct span){NULL, 0};
}

uint64_t json_reader_number(struct span value)
{
	const char *digits = value.bytes;
	uint64_t number = 0;

	for (size_t i = 0; i < value.size && digits[i] >= '0' && digits[i] <= '9'; i++) {
		number = 10 * number + (uint64_t)(digits[i] - '0');
	}
	return number;
}

/* Returns the byte of an escape such as "n", "u000a" or "udc80", and how many characters it has. */
static char decode_escape(const char *escape, size_t *ret_size)
{
	static const char short_forms[] = "b\bf\fn\nr\rt\t";
	const char *form = strchr(short_forms, *escape);
	char digits[5] = "";
	unsigned long code;

	*ret_size = 1;
	if (*escape != 'u') {
		return form ? form[1] : *escape;
	}
	*ret_size = 1 + sizeof(digits) - 1;
	memcpy(digits, escape + 1, sizeof(digits) - 1);
	code = strtoul(digits, NULL, 16);
	return code < 0x80 || (code >= 0xdc80 && code <= 0xdcff) ? (char)code : '?';
}

size_t json_reader_decode(struct span string, char *ret_bytes)
{
	const char *text = string.bytes;
	size_t size = 0, escape;

	for (size_t i = 0; i < string.size; size++) {
		if (text[i] == '\\') {
			ret_bytes[size] = decode_escape(text + i + 1, &escape);
			i += 1 + escape;
		} else {
			ret_bytes[size] = text[i++];
		}
	}
	return size;
}

/*
 * Reads events to the end of the text or of the array. Returns false if the text is wrong, or if it ended within an
 * event; *ret_event is then where that event begins.
 */
static bool take_events(struct json_reader *reader, bool in_array, void (*each)(void *context, struct span event),
                        void *context, const char **ret_event)
{
	for (;;) {
		skip_blanks(reader);
		*ret_event = reader->at;
		if (reader->at == reader->end || (in_array && *reader->at == ']')) {
			break;
		}
		if (!is_next(reader, '{')) {
			return wrong(reader, "an event ('{') was expected");
		}
		if (!take_nested(reader, 0)) {
			return false;
		}
		each(context, span_since(reader, *ret_event));
		/* the writer ends each event with a comma, so the text may end after one */
		if (is_next(reader, ',')) {
			reader->at++;
		} else if (reader->at < reader->end && !(in_array && *reader->at == ']')) {
			return wrong(reader, "a comma was expected");
		}
	}
	if (reader->at < reader->end) {
		reader->at++;
		skip_blanks(reader);
	}
	return reader->at == reader->end || wrong(reader, "the array has ended before it");
}

enum json_reader_ending json_reader_trace(const char *text, size_t size, void (*each)(void *context, struct span event),
                                          void *context, struct json_reader_fault *ret_fault)
{
	struct json_reader reader = {.at = text, .end = text + size};
	bool in_array = is_next(&reader, '[');
	const char *event;

	/* a trace without a bracket was written to a pipe */
	reader.at += in_array;
	if (take_events(&reader, in_array, each, context, &event)) {
		return JSON_READER_WHOLE;
	}
	*ret_fault = (struct json_reader_fault){(size_t)((reader.what ? reader.at : event) - text), reader.what};
	return reader.what ? JSON_READER_BAD : JSON_READER_CUT;
}

int json_reader_load(FILE *file, char **ret_text, size_t *ret_size)
{
	char *text = NULL;
	size_t capacity = 0;
	ssize_t size;

	errno = 0;
	/* a NUL is invalid in JSON: reading stops after the first one, which json_reader_trace() then reports as wrong */
	size = getdelim(&text, &capacity, '\0', file);
	if (size < 0 && (ferror(file) || errno == ENOMEM)) {
		free(text);
		return errno ? -errno : -EIO;
	}
	*ret_text = text;
	*ret_size = size < 0 ? 0 : (size_t)size;
	return 0;
}

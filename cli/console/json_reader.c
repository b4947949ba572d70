/* SPDX-License-Identifier: MIT */
/*
 * A recursive-descent parser over the text in memory. Each take_...() function moves `at` past the text that it read,
 * or returns false.
 * tell_wrong() sets `what` only if there is text left.
 */
#include "cli/console/json_reader.h"

#include "cache/harmless.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static bool tell_wrong(struct json_reader *reader, const char *what)
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

static bool take_character(struct json_reader *reader, char wanted, const char *what)
{
	if (!is_next(reader, wanted)) {
		return tell_wrong(reader, what);
	}
	reader->at++;
	return true;
}

static bool take_word(struct json_reader *reader, const char *word)
{
	for (; *word != '\0'; word++, reader->at++) {
		if (reader->at == reader->end || *reader->at != *word) {
			return tell_wrong(reader, "a value was expected");
		}
	}
	return true;
}

/* Sets *ret_byte to the lowest eight bits of the character, which are the byte if cache/json.h has written it. */
static bool take_escape(struct json_reader *reader, char *ret_byte)
{
	static const char digits[] = "0123456789abcdef";
	unsigned code = 0;

	reader->at++;
	if (reader->at == reader->end) {
		return false;
	}
	*ret_byte = *reader->at;
	/* surrogates are not checked for pairs, because cache/json.h writes single ones */
	if (*reader->at != 'u') {
		if (memchr("\"\\/bfnrt", *reader->at, 8) == NULL) {
			return tell_wrong(reader, "no such escape");
		}
		reader->at++;
		return true;
	}
	reader->at++;
	for (int i = 0; i < 4; i++, reader->at++) {
		const char *digit = reader->at < reader->end ? memchr(digits, tolower(*reader->at), 16) : NULL;

		if (!digit) {
			return tell_wrong(reader, "four hexadecimal digits were expected");
		}
		code = code << 4 | (unsigned)(digit - digits);
	}
	*ret_byte = (char)code;
	return true;
}

static bool take_string(struct json_reader *reader)
{
	if (!take_character(reader, '"', "a string was expected")) {
		return false;
	}
	while (reader->at < reader->end && *reader->at != '"') {
		char byte;

		if (*reader->at == '\\') {
			if (!take_escape(reader, &byte)) {
				return false;
			}
		} else if ((unsigned char)*reader->at < 0x20) {
			return tell_wrong(reader, "a control character in a string");
		} else {
			size_t left = (size_t)(reader->end - reader->at);
			size_t length = utf8_length(reader->at, left);

			/* with fewer than 4 bytes left, the text may have been cut within a character */
			if (length == 0) {
				return left >= 4 && tell_wrong(reader, "not UTF-8");
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
	return reader->at > begin || tell_wrong(reader, "a digit was expected");
}

static bool is_one_of(const struct json_reader *reader, const char *characters)
{
	return reader->at < reader->end && strchr(characters, *reader->at) != NULL && *reader->at != '\0';
}

static bool skip_one(struct json_reader *reader, const char *characters)
{
	bool is_there = is_one_of(reader, characters);

	reader->at += is_there;
	return is_there;
}

static bool take_number(struct json_reader *reader)
{
	(void)skip_one(reader, "-");
	/* JSON allows no digit after a leading 0 */
	if (!skip_one(reader, "0") && !take_digits(reader)) {
		return false;
	}
	if (skip_one(reader, ".") && !take_digits(reader)) {
		return false;
	}
	if (skip_one(reader, "eE")) {
		(void)skip_one(reader, "+-");
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
		return tell_wrong(reader, "nested too deeply");
	}
	reader->at++;
	if (is_next(reader, closing)) {
		reader->at++;
		return true;
	}
	for (;;) {
		if (closing == '}' && !(take_string(reader) && take_character(reader, ':', "a colon was expected"))) {
			return false;
		}
		if (!take_value(reader, depth + 1)) {
			return false;
		}
		if (is_next(reader, closing)) {
			reader->at++;
			return true;
		}
		if (!take_character(reader, ',', "a comma was expected")) {
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
	*ret_name = (struct span){NULL, 0};
	skip_blanks(members);
	(void)skip_one(members, ",");
	if (members->in_object && json_reader_value(members, ret_name)) {
		*ret_name = json_reader_string(*ret_name);
		(void)take_character(members, ':', "");
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

struct span json_reader_decode(struct span value)
{
	struct span string = json_reader_string(value);
	/* the text is const for the other functions only */
	char *begin = (char *)(uintptr_t)string.bytes, *to = begin;
	struct json_reader reader = {.at = begin, .end = string.size ? begin + string.size : begin};

	while (reader.at < reader.end) {
		char byte = *reader.at;

		if (byte != '\\') {
			reader.at++;
		} else {
			(void)take_escape(&reader, &byte);
		}
		*to++ = byte;
	}
	return (struct span){begin, (size_t)(to - begin)};
}

/* SPDX-License-Identifier: MIT */
#include "cli/console/timeline.h"

#include "cache/json.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FIRST_BYTES (1U << 16)

/* Every function that reads something is false once the text has ended or is wrong; `what` tells which: NULL, it ended. */
struct parser {
	const char *at, *end;
	const char *what;
	const struct timeline_reader *reader;
};

static bool wrong(struct parser *parser, const char *what)
{
	if (parser->at < parser->end) {
		parser->what = what;
	}
	return false;
}

static void skip_blanks(struct parser *parser)
{
	while (parser->at < parser->end && memchr(" \t\r\n", *parser->at, 4) != NULL) {
		parser->at++;
	}
}

static bool is_next(struct parser *parser, char wanted)
{
	skip_blanks(parser);
	return parser->at < parser->end && *parser->at == wanted;
}

static bool take(struct parser *parser, char wanted, const char *what)
{
	if (!is_next(parser, wanted)) {
		return wrong(parser, what);
	}
	parser->at++;
	return true;
}

static bool take_word(struct parser *parser, const char *word)
{
	for (; *word != '\0'; word++, parser->at++) {
		if (parser->at == parser->end || *parser->at != *word) {
			return wrong(parser, "a value was expected");
		}
	}
	return true;
}

static bool take_escape(struct parser *parser)
{
	parser->at++;
	if (parser->at == parser->end) {
		return false;
	}
	if (*parser->at != 'u') {
		if (memchr("\"\\/bfnrt", *parser->at, 8) == NULL) {
			return wrong(parser, "no such escape");
		}
		parser->at++;
		return true;
	}
	parser->at++;
	for (int i = 0; i < 4; i++, parser->at++) {
		if (parser->at == parser->end || memchr("0123456789abcdefABCDEF", *parser->at, 22) == NULL) {
			return wrong(parser, "four hexadecimal digits were expected");
		}
	}
	return true;
}

static bool take_string(struct parser *parser, struct timeline_text *ret_text)
{
	const char *begin;

	if (!take(parser, '"', "a string was expected")) {
		return false;
	}
	begin = parser->at;
	while (parser->at < parser->end && *parser->at != '"') {
		if (*parser->at == '\\') {
			if (!take_escape(parser)) {
				return false;
			}
		} else if ((unsigned char)*parser->at < 0x20) {
			return wrong(parser, "a control character in a string");
		} else {
			size_t left = (size_t)(parser->end - parser->at);
			size_t length = json_character(parser->at, left);

			/* a character may be cut with the text */
			if (length == 0) {
				return left >= 4 && wrong(parser, "not UTF-8");
			}
			parser->at += length;
		}
	}
	if (parser->at == parser->end) {
		return false;
	}
	*ret_text = (struct timeline_text){begin, (size_t)(parser->at - begin)};
	parser->at++;
	return true;
}

static bool take_digits(struct parser *parser)
{
	const char *begin = parser->at;

	while (parser->at < parser->end && *parser->at >= '0' && *parser->at <= '9') {
		parser->at++;
	}
	return parser->at > begin || wrong(parser, "a digit was expected");
}

static bool is_one_of(const struct parser *parser, const char *characters)
{
	return parser->at < parser->end && strchr(characters, *parser->at) != NULL && *parser->at != '\0';
}

static bool take_number(struct parser *parser)
{
	if (is_one_of(parser, "-")) {
		parser->at++;
	}
	if (is_one_of(parser, "0")) {
		parser->at++;
	} else if (!take_digits(parser)) {
		return false;
	}
	if (is_one_of(parser, ".")) {
		parser->at++;
		if (!take_digits(parser)) {
			return false;
		}
	}
	if (is_one_of(parser, "eE")) {
		parser->at++;
		if (is_one_of(parser, "+-")) {
			parser->at++;
		}
		return take_digits(parser);
	}
	return true;
}

static bool take_value(struct parser *parser, unsigned depth, enum timeline_kind *ret_kind,
                       struct timeline_text *ret_text);

/* What is nested: nobody is told of its members. */
static bool take_nested(struct parser *parser, unsigned depth)
{
	char closing = *parser->at == '{' ? '}' : ']';
	struct timeline_text text;
	enum timeline_kind kind;

	if (depth == TIMELINE_DEPTH) {
		return wrong(parser, "nested too deeply");
	}
	parser->at++;
	if (is_next(parser, closing)) {
		parser->at++;
		return true;
	}
	for (;;) {
		if (closing == '}' && !(take_string(parser, &text) && take(parser, ':', "a colon was expected"))) {
			return false;
		}
		if (!take_value(parser, depth + 1, &kind, &text)) {
			return false;
		}
		if (is_next(parser, closing)) {
			parser->at++;
			return true;
		}
		if (!take(parser, ',', "a comma was expected")) {
			return false;
		}
	}
}

static bool take_value(struct parser *parser, unsigned depth, enum timeline_kind *ret_kind,
                       struct timeline_text *ret_text)
{
	const char *begin;
	bool taken;

	skip_blanks(parser);
	begin = parser->at;
	if (is_one_of(parser, "\"")) {
		*ret_kind = TIMELINE_STRING;
		return take_string(parser, ret_text);
	}
	*ret_kind = TIMELINE_OTHER;
	if (is_one_of(parser, "{[")) {
		taken = take_nested(parser, depth);
	} else if (is_one_of(parser, "-0123456789")) {
		*ret_kind = TIMELINE_NUMBER;
		taken = take_number(parser);
	} else {
		taken = take_word(parser, is_one_of(parser, "t") ? "true" : is_one_of(parser, "f") ? "false" : "null");
	}
	*ret_text = (struct timeline_text){begin, (size_t)(parser->at - begin)};
	return taken;
}

/* An event, or its "args". */
static bool take_members(struct parser *parser, enum timeline_level level)
{
	struct timeline_member member = {.level = level};

	if (!take(parser, '{', "an event ('{') was expected")) {
		return false;
	}
	if (is_next(parser, '}')) {
		parser->at++;
		return true;
	}
	for (;;) {
		if (!take_string(parser, &member.name) || !take(parser, ':', "a colon was expected")) {
			return false;
		}
		if (level == TIMELINE_OF_EVENT && member.name.size == 4 && memcmp(member.name.at, "args", 4) == 0 &&
		    is_next(parser, '{')) {
			if (!take_members(parser, TIMELINE_OF_ARGS)) {
				return false;
			}
		} else {
			if (!take_value(parser, 1, &member.kind, &member.value)) {
				return false;
			}
			if (parser->reader->member) {
				parser->reader->member(parser->reader->context, &member);
			}
		}
		if (is_next(parser, '}')) {
			parser->at++;
			return true;
		}
		if (!take(parser, ',', "a comma was expected")) {
			return false;
		}
	}
}

/* Comes back at the end of the text, or of the array; false: within an event, or at something wrong. */
static bool take_events(struct parser *parser, bool in_array, const char **ret_event)
{
	struct timeline_text text;

	for (;;) {
		skip_blanks(parser);
		*ret_event = parser->at;
		if (parser->at == parser->end || (in_array && *parser->at == ']')) {
			break;
		}
		if (!take_members(parser, TIMELINE_OF_EVENT)) {
			return false;
		}
		text = (struct timeline_text){*ret_event, (size_t)(parser->at - *ret_event)};
		parser->reader->end(parser->reader->context, &text);
		if (is_next(parser, ',')) {
			parser->at++;
		} else if (parser->at < parser->end && !(in_array && *parser->at == ']')) {
			return wrong(parser, "a comma was expected");
		}
	}
	if (parser->at < parser->end) {
		parser->at++;
		skip_blanks(parser);
	}
	return parser->at == parser->end || wrong(parser, "the array has ended before it");
}

enum timeline_ending timeline_read(const char *text, size_t size, const struct timeline_reader *reader,
                                   struct timeline_fault *ret_fault)
{
	struct parser parser = {.at = text, .end = text + size, .reader = reader};
	bool in_array = is_next(&parser, '[');
	const char *event;

	parser.at += in_array;
	if (take_events(&parser, in_array, &event)) {
		return TIMELINE_WHOLE;
	}
	*ret_fault = (struct timeline_fault){(size_t)((parser.what != NULL ? parser.at : event) - text), parser.what};
	return parser.what != NULL ? TIMELINE_BAD : TIMELINE_CUT;
}

static unsigned take_code(const char *digits)
{
	char text[5] = "";

	memcpy(text, digits, 4);
	return (unsigned)strtoul(text, NULL, 16);
}

/* As UTF-8; of \udc80 to \udcff the byte that they stand for; other halves of pairs as '?'. Returns how many bytes. */
static size_t spell_code(unsigned code, char ret_bytes[4])
{
	if (code < 0x80 || (code >= 0xdc80 && code <= 0xdcff)) {
		ret_bytes[0] = (char)code;
		return 1;
	}
	if (code < 0x800) {
		ret_bytes[0] = (char)(0xc0 | code >> 6);
		ret_bytes[1] = (char)(0x80 | (code & 0x3f));
		return 2;
	}
	if (code >= 0xd800 && code <= 0xdfff) {
		ret_bytes[0] = '?';
		return 1;
	}
	ret_bytes[0] = (char)(0xe0 | code >> 12);
	ret_bytes[1] = (char)(0x80 | (code >> 6 & 0x3f));
	ret_bytes[2] = (char)(0x80 | (code & 0x3f));
	return 3;
}

void timeline_spell(const struct timeline_text *value, char *ret_text, size_t capacity)
{
	static const char letters[] = "bfnrt", meant[] = "\b\f\n\r\t";
	const char *at = value->at, *end = at + value->size;
	size_t size = 0, one;

	for (; at < end && size + 4 < capacity; size += one) {
		const char *letter;

		one = 1;
		if (*at != '\\') {
			ret_text[size] = *at++;
		} else if (at[1] == 'u') {
			one = spell_code(take_code(at + 2), ret_text + size);
			at += 6;
		} else {
			letter = strchr(letters, at[1]);
			ret_text[size] = letter ? meant[letter - letters] : at[1];
			at += 2;
		}
	}
	ret_text[size] = '\0';
}

int timeline_load(int file, char **ret_text, size_t *ret_size)
{
	size_t size = 0, capacity = FIRST_BYTES;
	char *text = malloc(capacity);
	ssize_t got = 1;

	while (text != NULL && got > 0) {
		/* a byte for the zero behind it */
		if (capacity - size < FIRST_BYTES / 2) {
			char *grown = realloc(text, 2 * capacity);

			if (grown == NULL) {
				free(text);
				return -ENOMEM;
			}
			text = grown;
			capacity *= 2;
		}
		got = TEMP_FAILURE_RETRY(read(file, text + size, capacity - size - 1));
		if (got < 0) {
			int error = -errno;

			free(text);
			return error;
		}
		size += (size_t)got;
	}
	if (text == NULL) {
		return -ENOMEM;
	}
	text[size] = '\0';
	*ret_text = text;
	*ret_size = size;
	return 0;
}

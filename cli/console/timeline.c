/* SPDX-License-Identifier: MIT */
/*
 * A recursive-descent parser over the text in memory. Each take_...() function moves `at` past the text that it read,
 * or returns false.
 * An early end of the text is not an error, because a program that is killed leaves a trace that may end anywhere.
 * `what` distinguishes the two cases: wrong() sets it only if there is text left.
 */
#include "cli/console/timeline.h"

#include "cache/json.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct parser {
	const char *at, *end;
	/* what is wrong with the byte at `at`; NULL: nothing, or the text has ended */
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
	/* surrogates are not checked for pairs, because readers get the string with its escapes unchanged */
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

			/* with fewer than 4 bytes left, the text may have been cut within a character */
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
	/* JSON allows no digit after a leading 0 */
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

static bool take_value(struct parser *parser, unsigned depth, enum timeline_level level);

/* Reads a member's name and value, and reports it to the reader if the value is a string and `level` allows it. */
static bool take_member(struct parser *parser, unsigned depth, enum timeline_level level)
{
	struct timeline_member member = {.level = level};
	bool is_args, is_string;

	if (!take_string(parser, &member.name) || !take(parser, ':', "a colon was expected")) {
		return false;
	}
	skip_blanks(parser);
	is_string = is_one_of(parser, "\"");
	is_args = level == TIMELINE_OF_EVENT && is_one_of(parser, "{") && member.name.size == 4 &&
	          memcmp(member.name.at, "args", 4) == 0;
	if (is_string) {
		if (!take_string(parser, &member.value)) {
			return false;
		}
		if (level != TIMELINE_DEEPER && parser->reader->member) {
			parser->reader->member(parser->reader->context, &member);
		}
		return true;
	}
	return take_value(parser, depth + 1, is_args ? TIMELINE_OF_ARGS : TIMELINE_DEEPER);
}

/* Reads an object or an array. `level` is the level of the object's members. */
static bool take_nested(struct parser *parser, unsigned depth, enum timeline_level level)
{
	char closing = *parser->at == '{' ? '}' : ']';

	/* each level takes two nested calls, so a malicious trace could otherwise exhaust the stack */
	if (depth == TIMELINE_DEPTH) {
		return wrong(parser, "nested too deeply");
	}
	parser->at++;
	if (is_next(parser, closing)) {
		parser->at++;
		return true;
	}
	for (;;) {
		if (!(closing == '}' ? take_member(parser, depth, level)
		                     : take_value(parser, depth + 1, TIMELINE_DEEPER))) {
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

static bool take_value(struct parser *parser, unsigned depth, enum timeline_level level)
{
	struct timeline_text text;

	skip_blanks(parser);
	if (is_one_of(parser, "\"")) {
		return take_string(parser, &text);
	}
	if (is_one_of(parser, "{[")) {
		return take_nested(parser, depth, level);
	}
	if (is_one_of(parser, "-0123456789")) {
		return take_number(parser);
	}
	/* for any other letter take_word() reports the error, because the text is not "null" */
	return take_word(parser, is_one_of(parser, "t") ? "true" : is_one_of(parser, "f") ? "false" : "null");
}

/*
 * Reads events to the end of the text or of the array. Returns false if the text is wrong, or if it ended within an
 * event; *ret_event is then where that event begins.
 */
static bool take_events(struct parser *parser, bool in_array, const char **ret_event)
{
	struct timeline_text text;

	for (;;) {
		skip_blanks(parser);
		*ret_event = parser->at;
		if (parser->at == parser->end || (in_array && *parser->at == ']')) {
			break;
		}
		if (!is_next(parser, '{')) {
			return wrong(parser, "an event ('{') was expected");
		}
		if (!take_nested(parser, 0, TIMELINE_OF_EVENT)) {
			return false;
		}
		text = (struct timeline_text){*ret_event, (size_t)(parser->at - *ret_event)};
		parser->reader->end(parser->reader->context, &text);
		/* the writer ends each event with a comma, so the text may end after one */
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

	/* a trace without a bracket was written to a pipe */
	parser.at += in_array;
	if (take_events(&parser, in_array, &event)) {
		return TIMELINE_WHOLE;
	}
	*ret_fault = (struct timeline_fault){(size_t)((parser.what != NULL ? parser.at : event) - text), parser.what};
	return parser.what != NULL ? TIMELINE_BAD : TIMELINE_CUT;
}

int timeline_load(FILE *file, char **ret_text, size_t *ret_size)
{
	char *text = NULL;
	size_t capacity = 0;
	ssize_t size;

	errno = 0;
	/* a NUL is invalid in JSON: reading stops after the first one, which timeline_read() then reports as wrong */
	size = getdelim(&text, &capacity, '\0', file);
	if (size < 0 && (ferror(file) || errno == ENOMEM)) {
		free(text);
		return errno ? -errno : -EIO;
	}
	*ret_text = text;
	*ret_size = size < 0 ? 0 : (size_t)size;
	return 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * PTX contains a path as a list of numbers, so each initialiser is converted back to bytes and searched like plain
 * text.
 *
 *     .global .align 1 .b8 $str[12] = {47, 116, 109, 112};                       bytes, also of wide strings
 *     .global .align 8 .u64 s[3] = {generic($str), 7886981044170129415, 7219};   words, if one of them is a pointer
 */
#include "keygen/needles.h"

#include "keygen/stream.h"

#include <endian.h>
#include <limits.h>
#include <string.h>

enum token { TOKEN_NUMBER, TOKEN_OTHER, TOKEN_END };

/* The constants of an initialiser as PTX writes them (NVRTC 11.8 to 13.5), from after its brace. */
struct initialiser {
	const uint8_t *at;
	const uint8_t *end;
};

static bool is_blank(uint8_t byte)
{
	return byte == ' ' || (byte >= '\t' && byte <= '\r');
}

static unsigned decimal_value(uint8_t byte)
{
	return (unsigned)byte - '0';
}

static unsigned hexadecimal_value(uint8_t byte)
{
	unsigned letter = ((unsigned)byte | 0x20) - 'a';

	return letter < 6 ? letter + 10 : decimal_value(byte);
}

static bool ends_element(uint8_t byte)
{
	return byte == ',' || byte == '{' || byte == '}' || byte == ';';
}

/* Reads a number, of which a negative one is in two's complement. */
static uint64_t read_number(struct initialiser *list)
{
	static const char prefixes[] = {'x', 'X', 'f', 'F', 'd', 'D'};
	const uint8_t *at = list->at;
	const uint8_t *end = list->end;
	const bool negative = *at == '-';
	uint64_t number = 0;

	at += negative;
	if (end - at > 2 && at[0] == '0' && memchr(prefixes, at[1], sizeof(prefixes))) {
		/* 0x..., and the bits of 0f... and 0d... */
		for (at += 2; at < end && hexadecimal_value(*at) < 16; at++) {
			number = number * 16 + hexadecimal_value(*at);
		}
	} else {
		for (; at < end && decimal_value(*at) < 10; at++) {
			number = number * 10 + decimal_value(*at);
		}
	}
	list->at = at;
	return negative ? 0 - number : number;
}

/* Reads the next element. One that is not a number is TOKEN_OTHER. */
static enum token next_token(struct initialiser *list, uint64_t *ret_number)
{
	enum token token = TOKEN_OTHER;

	while (list->at < list->end && (is_blank(*list->at) || *list->at == ',')) {
		list->at++;
	}
	if (list->at == list->end || ends_element(*list->at)) {
		return TOKEN_END;
	}
	if (decimal_value(*list->at) < 10 || *list->at == '-') {
		*ret_number = read_number(list);
		token = TOKEN_NUMBER;
	}
	while (list->at < list->end && !ends_element(*list->at)) {
		list->at++;
	}
	return token;
}

/*
 * Returns true if the '{' at `brace` begins an initialiser: before it is "= ", or, in nested lists, a brace or a
 * comma.
 */
static bool begins_initialiser(const uint8_t *text, const uint8_t *brace)
{
	while (brace > text && is_blank(brace[-1])) {
		brace--;
	}
	return brace > text && (brace[-1] == '=' || brace[-1] == '{' || brace[-1] == ',');
}

/* Bytes per character: plain text, char16_t, or char32_t and wchar_t. */
enum width { WIDTH_PLAIN = 1, WIDTH_TWO = 2, WIDTH_FOUR = 4 };

/*
 * Returns true if the needle is at `at`, each of its bytes as a character of that width. The zero bytes of the last
 * character are not compared, and of a longer needle only PATH_MAX bytes: a false match is safe, because the result is
 * then only path-dependent.
 */
static bool stands_at(const uint8_t *at, const uint8_t *end, const struct needle *needle, enum width width)
{
	const size_t size = needle->size < PATH_MAX ? needle->size : PATH_MAX;

	if ((size_t)(end - at) <= (size - 1) * width) {
		return false;
	}
	for (size_t i = 0; i < size; i++, at += width) {
		if (*at != (uint8_t)needle->text[i]) {
			return false;
		}
		for (int j = 1; i + 1 < size && j < (int)width; j++) {
			if (at[j] != 0) {
				return false;
			}
		}
	}
	return true;
}

/*
 * Needles are paths, so memchr() for their first byte, a slash, skips nearly all of an artifact. An automaton over all
 * needles is no faster for the two or three that a request has.
 */
static bool contains_needle(const uint8_t *at, const uint8_t *end, const struct needle *needle, enum width width)
{
	while (at < end && (at = memchr(at, (uint8_t)needle->text[0], (size_t)(end - at)))) {
		if (stands_at(at, end, needle, width)) {
			return true;
		}
		at++;
	}
	return false;
}

static void search_width(struct needles *needles, const uint8_t *text, const uint8_t *end, enum width width)
{
	for (size_t i = 0; i < needles->count; i++) {
		struct needle *needle = &needles->list[i];

		if (!needle->found && needle->size > 0) {
			needle->found = contains_needle(text, end, needle, width);
		}
	}
}

/* Searches text that may have wide characters. */
static void search_widths(struct needles *needles, const uint8_t *text, const uint8_t *end)
{
	search_width(needles, text, end, WIDTH_TWO);
	search_width(needles, text, end, WIDTH_FOUR);
}

/* Searches the bytes that a part of a list forms, and empties them. */
static void search_bytes(struct needles *needles, struct stream *bytes)
{
	for (size_t i = 0; bytes->failed && i < needles->count; i++) {
		needles->list[i].found = true;
	}
	if (!bytes->failed && bytes->size > 0) {
		search_width(needles, bytes->bytes, bytes->bytes + bytes->size, WIDTH_PLAIN);
		search_widths(needles, bytes->bytes, bytes->bytes + bytes->size);
	}
	bytes->size = 0;
}

/* Searches the bytes of a list whose elements have that width. */
static void search_list(struct needles *needles, struct initialiser *list, size_t width, struct stream *bytes)
{
	uint64_t number;
	enum token token;

	while ((token = next_token(list, &number)) != TOKEN_END) {
		if (token == TOKEN_NUMBER) {
			number = htole64(number);
			stream_bytes(bytes, &number, width);
		} else {
			search_bytes(needles, bytes);
		}
	}
	search_bytes(needles, bytes);
}

/* The width of the elements is declared elsewhere, so each is tried: a false match is safe. */
static void search_lists(struct needles *needles, const uint8_t *text, size_t size)
{
	struct initialiser list = {.at = text, .end = text + size};
	struct stream bytes = STREAM_EMPTY;

	while ((list.at = memchr(list.at, '{', (size_t)(list.end - list.at)))) {
		const uint8_t *brace = list.at++;

		for (size_t width = 1; width <= sizeof(uint64_t) && begins_initialiser(text, brace); width *= 2) {
			list.at = brace + 1;
			search_list(needles, &list, width, &bytes);
		}
	}
	stream_free(&bytes);
}

void needles_search(struct needles *needles, const void *text, size_t size)
{
	const uint8_t *begin = text;
	const uint8_t *zero;

	if (size == 0) {
		return;
	}
	search_width(needles, begin, begin + size, WIDTH_PLAIN);
	search_lists(needles, begin, size);
	/*
	 * The first wide literal begins at most one byte before the first zero byte. PTX and logs have a single zero
	 * byte, at their end, so this search costs them nothing.
	 */
	zero = memchr(begin, '\0', size);
	if (zero) {
		search_widths(needles, zero > begin ? zero - 1 : zero, begin + size);
	}
}

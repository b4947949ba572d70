/* SPDX-License-Identifier: MIT */
/*
 * PTX contains a path as a list of numbers, so each initialiser is converted back to bytes, at the width of its
 * elements, and searched like plain text.
 */
#include "keygen/needles.h"

#include "keygen/stream.h"

#include <endian.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/*
 * initialiser: parses the constants of an initialiser as PTX writes them (NVRTC 11.8 to 13.5)
 *
 *     .global .align 1 .b8 $str[12] = {47, 116, 109, 112};                       bytes, also of wide strings
 *     .global .align 8 .u64 s[3] = {generic($str), 7886981044170129415, 7219};   words, if one of them is a pointer
 *
 * Calling sequence: if initialiser_begins(), initialiser_next() from after the brace until TOKEN_END. Errors: none; an
 * element that is not a number is TOKEN_OTHER.
 */

enum token { TOKEN_NUMBER, TOKEN_OTHER, TOKEN_END };

struct initialiser {
	const uint8_t *at;
	const uint8_t *end;
};

struct initialiser_number {
	uint64_t magnitude;
	bool negative;
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

static void read_number(struct initialiser *list, struct initialiser_number *ret_number)
{
	static const char prefixes[] = {'x', 'X', 'f', 'F', 'd', 'D'};
	const uint8_t *at = list->at;
	const uint8_t *end = list->end;
	struct initialiser_number number = {.negative = *at == '-'};

	at += number.negative;
	if (end - at > 2 && at[0] == '0' && memchr(prefixes, at[1], sizeof(prefixes))) {
		/* 0x..., and the bits of 0f... and 0d... */
		for (at += 2; at < end && hexadecimal_value(*at) < 16; at++) {
			number.magnitude = number.magnitude * 16 + hexadecimal_value(*at);
		}
	} else {
		for (; at < end && decimal_value(*at) < 10; at++) {
			number.magnitude = number.magnitude * 10 + decimal_value(*at);
		}
	}
	list->at = at;
	*ret_number = number;
}

static enum token initialiser_next(struct initialiser *list, struct initialiser_number *ret_number)
{
	enum token token = TOKEN_OTHER;

	while (list->at < list->end && (is_blank(*list->at) || *list->at == ',')) {
		list->at++;
	}
	if (list->at == list->end || ends_element(*list->at)) {
		return TOKEN_END;
	}
	if (decimal_value(*list->at) < 10 || *list->at == '-') {
		read_number(list, ret_number);
		token = TOKEN_NUMBER;
	}
	while (list->at < list->end && !ends_element(*list->at)) {
		list->at++;
	}
	return token;
}

/* Returns the number, or, if it is negative, a positive number that needs as many bytes. */
static uint64_t initialiser_span(const struct initialiser_number *number)
{
	if (!number->negative || number->magnitude == 0) {
		return number->magnitude;
	}
	return number->magnitude > INT64_MAX ? UINT64_MAX : (number->magnitude - 1) * 2;
}

/*
 * Returns the smallest width that all numbers fit into. The declared width may be larger, but then text that spans two
 * words would have made a number too large for this width.
 */
static size_t initialiser_width(struct initialiser list)
{
	struct initialiser_number number;
	uint64_t most = 0;
	enum token token;

	while ((token = initialiser_next(&list, &number)) != TOKEN_END) {
		if (token == TOKEN_NUMBER) {
			most |= initialiser_span(&number);
		}
	}
	if (most <= UINT8_MAX) {
		return 1;
	}
	if (most <= UINT16_MAX) {
		return 2;
	}
	return most <= UINT32_MAX ? 4 : 8;
}

/*
 * Returns true if the '{' at `brace` begins an initialiser: before it is "= ", or, in nested lists, a brace or a
 * comma.
 */
static bool initialiser_begins(const uint8_t *text, const uint8_t *brace)
{
	while (brace > text && is_blank(brace[-1])) {
		brace--;
	}
	return brace > text && (brace[-1] == '=' || brace[-1] == '{' || brace[-1] == ',');
}

/* Only the beginning of a longer needle is searched for. A false match is safe: the result is only path-dependent. */
#define NEEDLE_MOST ((size_t)PATH_MAX)

struct needles {
	struct needle *list;
	bool *found;
	size_t count;
	struct stream bytes; /* the bytes of the list being read */
};

int needles_new(const struct needle *list, size_t count, struct needles **ret_needles)
{
	struct needles *needles = calloc(1, sizeof(*needles));

	if (needles) {
		needles->count = count;
		needles->list = calloc(count + 1, sizeof(*needles->list));
		needles->found = calloc(count + 1, sizeof(*needles->found));
	}
	if (!needles || !needles->list || !needles->found) {
		needles_free(needles);
		return -ENOMEM;
	}
	for (size_t i = 0; i < count; i++) {
		needles->list[i] = list[i];
		if (list[i].size > NEEDLE_MOST) {
			needles->list[i].size = NEEDLE_MOST;
		}
	}
	*ret_needles = needles;
	return 0;
}

void needles_free(struct needles *needles)
{
	if (needles) {
		stream_free(&needles->bytes);
		free(needles->list);
		free(needles->found);
		free(needles);
	}
}

bool needles_found(const struct needles *needles, size_t index)
{
	return needles->found[index];
}

/* Bytes per character: plain text, char16_t, or char32_t and wchar_t. */
enum width { WIDTH_PLAIN = 1, WIDTH_TWO = 2, WIDTH_FOUR = 4 };

/*
 * Returns true if the needle is at `at`, each of its bytes as a character of that width. The zero bytes of the last
 * character are not compared.
 */
static bool stands_at(const uint8_t *at, const uint8_t *end, const struct needle *needle, enum width width)
{
	if ((size_t)(end - at) <= (needle->size - 1) * width) {
		return false;
	}
	for (size_t i = 0; i < needle->size; i++, at += width) {
		if (*at != (uint8_t)needle->text[i]) {
			return false;
		}
		for (int j = 1; i + 1 < needle->size && j < (int)width; j++) {
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
		if (!needles->found[i] && needles->list[i].size > 0) {
			needles->found[i] = contains_needle(text, end, &needles->list[i], width);
		}
	}
}

static void search_wide(struct needles *needles, const uint8_t *text, const uint8_t *end)
{
	search_width(needles, text, end, WIDTH_TWO);
	search_width(needles, text, end, WIDTH_FOUR);
}

/* Searches the bytes that a part of a list forms. If there is no memory, every needle counts as found. */
static void search_bytes(struct needles *needles)
{
	if (needles->bytes.failed) {
		memset(needles->found, true, needles->count);
	} else if (needles->bytes.size > 0) {
		const uint8_t *text = needles->bytes.bytes;
		const uint8_t *end = text + needles->bytes.size;

		search_width(needles, text, end, WIDTH_PLAIN);
		search_wide(needles, text, end);
	}
	needles->bytes.size = 0;
}

/*
 * Searches the list as numbers of that width. Returns false if the width is 1 and a number needs more bytes; the part
 * of the list before that number may not have been searched.
 */
static bool search_numbers(struct needles *needles, struct initialiser *list, size_t width)
{
	struct initialiser_number number;
	enum token token;

	needles->bytes.size = 0;
	while ((token = initialiser_next(list, &number)) != TOKEN_END) {
		uint64_t value;

		if (token == TOKEN_OTHER) {
			search_bytes(needles);
			continue;
		}
		if (width == 1 && initialiser_span(&number) > UINT8_MAX) {
			return false;
		}
		value = htole64(number.negative ? 0 - number.magnitude : number.magnitude);
		stream_bytes(&needles->bytes, &value, width);
	}
	search_bytes(needles);
	return true;
}

/* Reads the list as bytes, which nearly all lists are, and again as words if a number is too large for a byte. */
static void search_list(struct needles *needles, struct initialiser *list)
{
	struct initialiser again = *list;

	if (!search_numbers(needles, list, 1)) {
		*list = again;
		(void)search_numbers(needles, list, initialiser_width(again));
	}
}

static void search_lists(struct needles *needles, const uint8_t *text, size_t size)
{
	struct initialiser list = {.at = text, .end = text + size};

	while ((list.at = memchr(list.at, '{', (size_t)(list.end - list.at)))) {
		const uint8_t *brace = list.at++;

		if (initialiser_begins(text, brace)) {
			search_list(needles, &list);
		}
	}
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
		search_wide(needles, zero > begin ? zero - 1 : zero, begin + size);
	}
}

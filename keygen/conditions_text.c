/* SPDX-License-Identifier: MIT */
#include "keygen/conditions.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define PIECE ((size_t)16 * 1024)
/* Of a longer needle only the beginning is looked for in lists: found too often is safe. */
#define NEEDLE_MOST ((size_t)PATH_MAX)

/* Wide literals widen each byte of a path to 2 or 4 (NVRTC 11.8 to 13.5: also those of UTF-8). */
static const size_t strides[] = {1, 2, 4};
#define STRIDES (sizeof(strides) / sizeof(strides[0]))

struct search {
	uint8_t *needle[STRIDES];
	size_t needle_size[STRIDES];
	uint8_t *piece; /* decoded bytes of a list: what is kept of the last piece, then a new one */
	size_t piece_size;
	size_t filled;
	size_t overlap;
};

/*
 * Initialisers as PTX spells them (NVRTC 11.8 to 13.5):
 *     .global .align 1 .b8 $str[12] = {47, 116, 109, 112};                       bytes, of wide strings too
 *     .global .align 8 .u64 s[3] = {generic($str), 7886981044170129415, 7219};   words, where a pointer is among them
 */
enum token { TOKEN_NUMBER, TOKEN_OTHER, TOKEN_END };

struct list {
	const uint8_t *at;
	const uint8_t *end;
};

struct number {
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

static void read_number(struct list *list, struct number *ret_number)
{
	static const char prefixes[] = {'x', 'X', 'f', 'F', 'd', 'D'};
	const uint8_t *at = list->at;
	const uint8_t *end = list->end;
	struct number number = {.negative = *at == '-'};

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

static enum token next_token(struct list *list, struct number *ret_number)
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

/* The number itself, or one that needs as many bytes as a negative one. */
static uint64_t span_of(const struct number *number)
{
	if (!number->negative || number->magnitude == 0) {
		return number->magnitude;
	}
	return number->magnitude > INT64_MAX ? UINT64_MAX : (number->magnitude - 1) * 2;
}

/*
 * The least width that all numbers fit into. Where the declared one is larger, text that runs over the border of two
 * words would have made a number too large for this one.
 */
static size_t width_of(struct list list)
{
	struct number number;
	uint64_t most = 0;
	enum token token;

	while ((token = next_token(&list, &number)) != TOKEN_END) {
		if (token == TOKEN_NUMBER) {
			most |= span_of(&number);
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

static bool found_in(const struct search *search, const void *bytes, size_t size)
{
	for (size_t i = 0; i < STRIDES; i++) {
		if (size >= search->needle_size[i] && memmem(bytes, size, search->needle[i], search->needle_size[i])) {
			return true;
		}
	}
	return false;
}

/* Searches what is there and keeps the end, in which a needle may have begun. */
static bool flush(struct search *search)
{
	bool found = found_in(search, search->piece, search->filled);
	size_t kept = search->filled < search->overlap ? search->filled : search->overlap;

	memmove(search->piece, search->piece + search->filled - kept, kept);
	search->filled = kept;
	return found;
}

static bool found_in_words(struct search *search, struct list *list, size_t width, bool *ret_too_wide)
{
	struct number number;
	bool found = false;
	enum token token;

	search->filled = 0;
	while (!found && (token = next_token(list, &number)) != TOKEN_END) {
		uint64_t value;

		if (token == TOKEN_OTHER) {
			found = flush(search);
			search->filled = 0;
			continue;
		}
		if (width == 1 && span_of(&number) > UINT8_MAX) {
			*ret_too_wide = true;
			return false;
		}
		if (search->piece_size - search->filled < sizeof(value)) {
			found = flush(search);
		}
		value = number.negative ? 0 - number.magnitude : number.magnitude;
		for (size_t i = 0; i < width; i++) {
			search->piece[search->filled++] = (uint8_t)(value >> (8 * i));
		}
	}
	return found || flush(search);
}

/* Nearly all lists are of bytes: the others show it by a number that is too large. */
static bool found_in_list(struct search *search, struct list *list)
{
	struct list again = *list;
	bool too_wide = false;

	if (found_in_words(search, list, 1, &too_wide)) {
		return true;
	}
	if (!too_wide) {
		return false;
	}
	*list = again;
	return found_in_words(search, list, width_of(again), &too_wide);
}

/* Does a '{' begin an initialiser? Then the text before it is "= ", or, for lists of lists, another brace or a comma.
 */
static bool begins_list(const uint8_t *text, const uint8_t *brace)
{
	while (brace > text && is_blank(brace[-1])) {
		brace--;
	}
	return brace > text && (brace[-1] == '=' || brace[-1] == '{' || brace[-1] == ',');
}

static bool found_in_lists(struct search *search, const uint8_t *text, size_t size)
{
	struct list list = {.at = text, .end = text + size};

	while ((list.at = memchr(list.at, '{', (size_t)(list.end - list.at)))) {
		const uint8_t *brace = list.at++;

		if (begins_list(text, brace) && found_in_list(search, &list)) {
			return true;
		}
	}
	return false;
}

static bool prepare(struct search *search, const uint8_t *needle, size_t size)
{
	uint8_t *at;

	if (size > NEEDLE_MOST) {
		size = NEEDLE_MOST;
	}
	search->overlap = size * strides[STRIDES - 1];
	search->piece_size = search->overlap + PIECE;
	search->piece = calloc(search->overlap * 2 + search->piece_size, 1);
	if (!search->piece) {
		return false;
	}
	at = search->piece + search->piece_size;
	for (size_t i = 0; i < STRIDES; i++) {
		search->needle[i] = at;
		/* Without the last one's zeros: PTX leaves out the zeros at the end of an initialiser since 12.4. */
		search->needle_size[i] = (size - 1) * strides[i] + 1;
		for (size_t j = 0; j < size; j++) {
			at[j * strides[i]] = needle[j];
		}
		at += search->needle_size[i];
	}
	return true;
}

bool conditions_text_found(const void *text, size_t size, const char *needle, size_t needle_size)
{
	struct search search = {0};
	const uint8_t *zero;
	bool found;

	if (needle_size == 0 || size == 0) {
		return false;
	}
	if (memmem(text, size, needle, needle_size)) {
		return true;
	}
	if (!prepare(&search, (const uint8_t *)needle, needle_size)) {
		return true; /* a result that is bound for nothing is still right */
	}
	found = found_in_lists(&search, text, size);
	/* Wide literals in a binary begin one byte before a zero; PTX and logs have a single one, at their end. */
	zero = memchr(text, '\0', size);
	if (!found && zero) {
		const uint8_t *from = zero > (const uint8_t *)text ? zero - 1 : zero;

		found = found_in(&search, from, size - (size_t)(from - (const uint8_t *)text));
	}
	free(search.piece);
	return found;
}

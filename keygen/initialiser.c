/* SPDX-License-Identifier: MIT */
#include "keygen/initialiser.h"

#include <string.h>

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

enum token initialiser_next(struct initialiser *list, struct initialiser_number *ret_number)
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

uint64_t initialiser_span(const struct initialiser_number *number)
{
	if (!number->negative || number->magnitude == 0) {
		return number->magnitude;
	}
	return number->magnitude > INT64_MAX ? UINT64_MAX : (number->magnitude - 1) * 2;
}

size_t initialiser_width(struct initialiser list)
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

bool initialiser_begins(const uint8_t *text, const uint8_t *brace)
{
	while (brace > text && is_blank(brace[-1])) {
		brace--;
	}
	return brace > text && (brace[-1] == '=' || brace[-1] == '{' || brace[-1] == ',');
}

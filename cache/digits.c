/* SPDX-License-Identifier: MIT */
#include "cache/digits.h"

#include <stdlib.h>
#include <string.h>

const char *digits_spell(const uint8_t *bytes, size_t size, char *ret_text)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < size; i++) {
		ret_text[2 * i] = digits[bytes[i] >> 4];
		ret_text[2 * i + 1] = digits[bytes[i] & 0xf];
	}
	ret_text[2 * size] = '\0';
	return ret_text;
}

static int digit_value(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool digits_parse(const char *text, size_t size, uint8_t *ret_bytes)
{
	for (size_t i = 0; i < size; i++) {
		int high = digit_value(text[2 * i]);
		/* not read if the first is no digit: the text may end there */
		int low = high < 0 ? -1 : digit_value(text[2 * i + 1]);

		if (low < 0) {
			return false;
		}
		ret_bytes[i] = (uint8_t)(high << 4 | low);
	}
	return true;
}

static int compare_texts(const void *one, const void *other)
{
	return strcmp(one, other);
}

bool digits_listed(const uint8_t bytes[DIGITS_LISTED], const char (*list)[DIGITS_BYTES(DIGITS_LISTED)], size_t count)
{
	char text[DIGITS_BYTES(DIGITS_LISTED)];

	(void)digits_spell(bytes, DIGITS_LISTED, text);
	return bsearch(text, list, count, sizeof(*list), compare_texts) != NULL;
}

/* Does not use strtoull(), which accepts blanks and signs, and wraps "-1". */
const char *digits_number(const char *text, uint64_t max, uint64_t *ret_number)
{
	uint64_t number = 0;

	if (*text < '0' || *text > '9') {
		return NULL;
	}
	for (; *text >= '0' && *text <= '9'; text++) {
		uint64_t digit = (uint64_t)(*text - '0');

		if (number > (max - digit) / 10) {
			return NULL;
		}
		number = number * 10 + digit;
	}
	*ret_number = number;
	return text;
}

/* SPDX-License-Identifier: MIT */
#include "cache/digits.h"

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

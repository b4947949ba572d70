/* SPDX-License-Identifier: MIT */
#include "cache/harmless.h"

#include <stdint.h>
#include <string.h>

/* Only the shortest form of a character counts, and no surrogates (RFC 3629). */
size_t utf8_decode(const char *bytes, size_t size, uint32_t *ret_code)
{
	const unsigned char *text = (const unsigned char *)bytes;
	static const uint32_t lowest[] = {0, 0, 0x80, 0x800, 0x10000};
	const size_t length = text[0] < 0x80 ? 1 : text[0] < 0xe0 ? 2 : text[0] < 0xf0 ? 3 : 4;
	uint32_t code = length == 1 ? text[0] : text[0] & (0x7fu >> length);

	if (length > size || (length > 1 && text[0] < 0xc0) || text[0] > 0xf7) {
		return 0;
	}
	for (size_t i = 1; i < length; i++) {
		if ((text[i] & 0xc0) != 0x80) {
			return 0;
		}
		code = code << 6 | (text[i] & 0x3f);
	}
	*ret_code = code;
	return code < lowest[length] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff) ? 0 : length;
}

size_t harmless_character(const char *bytes, size_t size)
{
	static const struct range {
		uint32_t first, last;
	} harmful[] = {
	    {0, 0x1f},        /* control characters of ASCII */
	    {0x7f, 0x9f},     /* DEL, and those of C1 */
	    {0x61c, 0x61c},   /* Arabic letter mark */
	    {0x200e, 0x200f}, /* marks of direction */
	    {0x2028, 0x202e}, /* separators, embeddings and overrides */
	    {0x2066, 0x2069}, /* isolates */
	};
	uint32_t code;
	size_t length = utf8_decode(bytes, size, &code);

	for (size_t i = 0; length > 0 && i < sizeof(harmful) / sizeof(harmful[0]); i++) {
		if (code >= harmful[i].first && code <= harmful[i].last) {
			return 0;
		}
	}
	return length;
}

void harmless_text(char *text)
{
	size_t left = strlen(text);

	while (left > 0) {
		size_t length = harmless_character(text, left);

		if (length == 0) {
			*text = '?';
			length = 1;
		}
		text += length;
		left -= length;
	}
}

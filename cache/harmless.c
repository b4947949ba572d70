/* SPDX-License-Identifier: MIT */
/* UTF-8 is decoded only as far as is necessary to recognise the few ranges of harmful characters. */
#include "cache/harmless.h"

#include <stdbool.h>
#include <string.h>

/*
 * Only the shortest form of a character counts, and no surrogates (RFC 3629): `low` and `high` are the limits of the
 * second byte, which depend on the first.
 */
size_t utf8_length(const char *bytes, size_t size)
{
	const unsigned char *text = (const unsigned char *)bytes;
	unsigned char low = 0x80;
	unsigned char high = 0xbf;
	size_t length;

	if (text[0] < 0x80) {
		return 1;
	}
	if (text[0] >= 0xc2 && text[0] <= 0xdf) {
		length = 2;
	} else if ((text[0] & 0xf0) == 0xe0) {
		length = 3;
	} else if (text[0] >= 0xf0 && text[0] <= 0xf4) {
		length = 4;
	} else {
		return 0;
	}
	if (text[0] == 0xe0) {
		low = 0xa0;
	} else if (text[0] == 0xed) {
		high = 0x9f;
	} else if (text[0] == 0xf0) {
		low = 0x90;
	} else if (text[0] == 0xf4) {
		high = 0x8f;
	}
	if (length > size || text[1] < low || text[1] > high) {
		return 0;
	}
	for (size_t i = 2; i < length; i++) {
		if ((text[i] & 0xc0) != 0x80) {
			return 0;
		}
	}
	return length;
}

/* The characters that control direction and lines, as UTF-8: the first and the last of each range. */
/* NOLINTBEGIN(misc-misleading-bidirectional): they are escaped here */
static const struct range {
	char first[4];
	char last[4];
} harmful[] = {
    {"\xd8\x9c", "\xd8\x9c"},         /* U+061C, Arabic letter mark */
    {"\xe2\x80\x8e", "\xe2\x80\x8f"}, /* U+200E, U+200F: marks of direction */
    {"\xe2\x80\xa8", "\xe2\x80\xae"}, /* U+2028 to U+202E: separators, embeddings and overrides */
    {"\xe2\x81\xa6", "\xe2\x81\xa9"}, /* U+2066 to U+2069: isolates */
};
/* NOLINTEND(misc-misleading-bidirectional) */

/* UTF-8 has the order of code points, so that characters of one length can be compared as bytes. */
static bool is_harmful(const char *bytes, size_t length)
{
	for (size_t i = 0; i < sizeof(harmful) / sizeof(harmful[0]); i++) {
		if (strlen(harmful[i].first) == length && memcmp(bytes, harmful[i].first, length) >= 0 &&
		    memcmp(bytes, harmful[i].last, length) <= 0) {
			return true;
		}
	}
	return false;
}

size_t harmless_character(const char *bytes, size_t size)
{
	size_t length = utf8_length(bytes, size);
	unsigned char first = (unsigned char)bytes[0];

	if (length == 1) {
		return first >= 0x20 && first != 0x7f ? 1 : 0;
	}
	/* U+0080 to U+009F are 0xc2 0x80 to 0xc2 0x9f */
	if (length == 2 && first == 0xc2 && (unsigned char)bytes[1] < 0xa0) {
		return 0;
	}
	return is_harmful(bytes, length) ? 0 : length;
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

/* SPDX-License-Identifier: MIT */
#include "cache/json.h"

#include <string.h>

#define ESCAPE_MAX 6 /* \u001f */

size_t json_character(const char *bytes, size_t size)
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

static size_t put_code(char *to, const char *head, unsigned char byte)
{
	static const char digit[] = "0123456789abcdef";

	memcpy(to, head, 4);
	to[4] = digit[byte >> 4];
	to[5] = digit[byte & 15];
	return ESCAPE_MAX;
}

/* One character, `length` bytes of it; 0: a byte that is none. */
static size_t put(char *to, const unsigned char *at, size_t length, enum json_bytes bytes)
{
	if (length == 0) {
		return bytes == JSON_BYTES_KEPT ? put_code(to, "\\udc", *at) : put_code(to, "\\uff", 0xfd);
	}
	if (*at == '"' || *at == '\\') {
		to[0] = '\\';
		to[1] = (char)*at;
		return 2;
	}
	if (*at < 0x20 || *at == 0x7f) {
		return put_code(to, "\\u00", *at);
	}
	memcpy(to, at, length);
	return length;
}

size_t json_escape(char *ret_escaped, size_t capacity, const char *text, size_t size, enum json_bytes bytes,
                   size_t *ret_taken)
{
	const unsigned char *at = (const unsigned char *)text;
	const unsigned char *end = at + size;
	size_t written = 0;

	while (at < end) {
		size_t length = json_character((const char *)at, (size_t)(end - at));
		char one[ESCAPE_MAX];
		size_t needed = put(one, at, length, bytes);

		if (needed > capacity - written) {
			break;
		}
		memcpy(ret_escaped + written, one, needed);
		written += needed;
		at += length > 0 ? length : 1;
	}
	*ret_taken = (size_t)(at - (const unsigned char *)text);
	return written;
}

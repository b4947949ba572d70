/* SPDX-License-Identifier: MIT */
#include "cli/buffer.h"

#include "cache/json.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool make_room(struct buffer *buffer, size_t size)
{
	size_t capacity = buffer->capacity != 0 ? buffer->capacity : 256;
	char *grown;

	while (capacity - buffer->size < size) {
		capacity *= 2;
	}
	if (capacity != buffer->capacity) {
		grown = realloc(buffer->at, capacity);
		if (grown == NULL) {
			buffer->failed = true;
			return false;
		}
		buffer->at = grown;
		buffer->capacity = capacity;
	}
	return true;
}

void buffer_add(struct buffer *buffer, const void *bytes, size_t size)
{
	if (make_room(buffer, size)) {
		memcpy(buffer->at + buffer->size, bytes, size);
		buffer->size += size;
	}
}

void buffer_print(struct buffer *buffer, const char *format, ...)
{
	char text[160];
	va_list arguments;
	int size;

	va_start(arguments, format);
	size =
	    vsnprintf(text, sizeof(text), format, arguments); /* NOLINT(clang-analyzer-valist.Uninitialized): it is */
	va_end(arguments);
	buffer_add(buffer, text, (size_t)size < sizeof(text) ? (size_t)size : sizeof(text) - 1);
}

/* U+2028 and U+2029 end a line in scripts, and not in JSON. */
static bool ends_a_line(const unsigned char *at, size_t length)
{
	return length == 3 && at[0] == 0xe2 && at[1] == 0x80 && (at[2] == 0xa8 || at[2] == 0xa9);
}

void buffer_json(struct buffer *buffer, const char *text, size_t size, enum buffer_json json)
{
	const unsigned char *at = (const unsigned char *)text;
	const unsigned char *end = at + size;

	while (at < end) {
		size_t length = json_character((const char *)at, (size_t)(end - at));

		if (length == 0) {
			buffer_print(buffer, "\\udc%02x", *at);
			length = 1;
		} else if (strchr("<>&", *at) != NULL || *at < 0x20 || *at == 0x7f) {
			buffer_print(buffer, "\\u%04x", *at);
		} else if (json == BUFFER_PLAIN && (*at == '"' || *at == '\\')) {
			buffer_print(buffer, "\\%c", *at);
		} else if (ends_a_line(at, length)) {
			buffer_print(buffer, "\\u20%02x", at[2] - 0x80);
		} else {
			buffer_add(buffer, at, length);
		}
		at += length;
	}
}

void buffer_html(struct buffer *buffer, const char *text, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		if (strchr("<>&\"'", text[i]) != NULL) {
			buffer_print(buffer, "&#%d;", text[i]);
		} else {
			buffer_add(buffer, &text[i], 1);
		}
	}
}

void buffer_free(struct buffer *buffer)
{
	free(buffer->at);
	*buffer = (struct buffer){0};
}

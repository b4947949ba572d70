/* SPDX-License-Identifier: MIT */
/*
 * stream: a canonical sequence of bytes, built from length-prefixed fields
 *
 * Purpose: two requests are equal exactly if their streams have the same bytes. A field is a tag byte, the length as
 * eight little-endian bytes, then the bytes; so two different lists of fields never give the same stream. Dependencies
 * and lowered names are serialised in streams too.
 *
 * Calling sequence: initialise with STREAM_EMPTY, call stream_field() or stream_bytes() any number of times, check
 * `failed` once at the end, stream_free().
 *
 * Errors: if there is no memory, `failed` is set, later calls do nothing, and the bytes are meaningless. Ownership:
 * the stream owns `bytes` (malloc).
 */
#ifndef KEYGEN_STREAM_H
#define KEYGEN_STREAM_H

#include "keygen/digest.h"

#include <stdbool.h>

struct stream {
	uint8_t *bytes;
	size_t size;
	size_t capacity;
	bool failed;
};

#define STREAM_EMPTY ((struct stream){0})

void stream_bytes(struct stream *stream, const void *bytes, size_t size);
void stream_u32(struct stream *stream, uint32_t value);
void stream_u64(struct stream *stream, uint64_t value);
void stream_field(struct stream *stream, uint8_t tag, const void *bytes, size_t size);
void stream_string(struct stream *stream, uint8_t tag, const char *string);
void stream_number(struct stream *stream, uint8_t tag, uint64_t value);
/* Frees the bytes and makes the stream empty again; an empty stream is fine. */
void stream_free(struct stream *stream);

/*
 * cursor: reads what stream_bytes/u32/u64/field wrote, never past the end. After one failed read all later reads fail,
 * so a reader may check `failed` once for several reads.
 */
struct cursor {
	const uint8_t *at;
	const uint8_t *end;
	bool failed;
};

struct cursor cursor_over(const void *bytes, size_t size);
uint32_t cursor_u32(struct cursor *cursor);
uint64_t cursor_u64(struct cursor *cursor);
/* Returns a pointer into the cursor's bytes, or NULL (and `failed`) if fewer than `size` are left. */
static inline const void *cursor_bytes(struct cursor *cursor, size_t size)
{
	const uint8_t *at = cursor->at;

	if (cursor->failed || size > (size_t)(cursor->end - at)) {
		cursor->failed = true;
		return NULL;
	}
	cursor->at = at + size;
	return at;
}
/* Reads a field; fails if its tag is not `tag`. */
const void *cursor_field(struct cursor *cursor, uint8_t tag, size_t *ret_size);
/* Reads the next field with any tag. Returns false at the end, or (and `failed`) if the bytes are damaged. */
bool cursor_next(struct cursor *cursor, uint8_t *ret_tag, struct span *ret_field);
bool cursor_at_end(const struct cursor *cursor);

#endif

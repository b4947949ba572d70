/* SPDX-License-Identifier: MIT */
/*
 * stream: a canonical run of bytes, built from length-prefixed fields
 *
 * Purpose: two requests are the same request exactly when their streams are the same bytes.  A field is a tag byte, the
 * length as eight little-endian bytes, then the bytes; so no two lists of fields give one stream.  The same helper
 * serialises dependencies and lowered names.
 *
 * Calling sequence: zero-initialise (STREAM_EMPTY), stream_field() or stream_bytes() any number of times, look at
 * `failed` once at the end, stream_free().
 *
 * Errors: memory that cannot be had sets `failed`; later calls do nothing; the bytes then mean nothing.
 * Ownership: the stream owns `bytes` (malloc).
 */
#ifndef KEYGEN_STREAM_H
#define KEYGEN_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
 * cursor: reads back what stream_bytes/u32/u64/field wrote, never past the end.  Every read says whether it could be
 * done; once one could not, all later ones fail too, so a reader may check once per group.
 */
struct cursor {
	const uint8_t *at;
	const uint8_t *end;
	bool failed;
};

struct cursor cursor_over(const void *bytes, size_t size);
uint32_t cursor_u32(struct cursor *cursor);
uint64_t cursor_u64(struct cursor *cursor);
/* A pointer into the cursor's bytes, or NULL (and failed) when fewer than `size` are left. */
const void *cursor_bytes(struct cursor *cursor, size_t size);
/* A field of that tag; anything else is a failure. */
const void *cursor_field(struct cursor *cursor, uint8_t tag, size_t *ret_size);
/* The next field, whatever its tag is. */
const void *cursor_any_field(struct cursor *cursor, uint8_t *ret_tag, size_t *ret_size);
bool cursor_at_end(const struct cursor *cursor);

#endif

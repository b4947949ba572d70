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

/*
 * content: writes content of any size as a field of a request
 *
 * Purpose: the inputs that a host passes are small (its own code) or large and the same each time (libdevice, a
 * library). A small input goes into the request whole, a large one as the BLAKE2b-256 digest of its size and bytes.
 * Digesting libdevice takes 0.6 ms, so the process remembers the digest under the fingerprint of the bytes (digest.h).
 * Computing a fingerprint takes a tenth of that time, and other processes cannot predict its value.
 *
 * Calling sequence: content_put() at any time. At most CONTENT_REMEMBERED digests are remembered; later ones replace
 * earlier ones.
 *
 * Errors: those of the stream. Threads: any. Fork: a set that a thread of the parent was using stays unusable in
 * the child. Signals: not from handlers.
 */

#define CONTENT_WHOLE_MAX  ((size_t)64 << 10)
#define CONTENT_REMEMBERED 256

/* What content_put() wrote: the bytes, or their digest, computed now or remembered. */
enum content_form { CONTENT_WHOLE, CONTENT_DIGESTED, CONTENT_RECALLED };

/* The tags of the two forms, which must differ. */
struct content_tags {
	uint8_t whole, digest;
};

/*
 * Computes the digest of the concatenated spans, or recalls it. The caller must add the sizes to the spans, because the
 * digest does not show where one span ends. `secret`: the secret of this process's fingerprints, or NULL to remember
 * nothing.
 */
enum content_form content_digest(const struct secret *secret, const struct span *spans, size_t count,
                                 struct key *ret_digest);
/* Writes one field: the bytes if there are at most CONTENT_WHOLE_MAX, else their digest. */
enum content_form content_put(struct stream *stream, struct content_tags tags, const struct secret *secret,
                              const void *bytes, size_t size);

#endif

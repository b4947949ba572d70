/* SPDX-License-Identifier: MIT */
/*
 * A stream is append-only and remembers that an append failed, so that writers check once. A cursor remembers a failed
 * read in the same way.
 */
#include "keygen/stream.h"

#include <endian.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define STREAM_FIRST_CAPACITY 1024
#define STREAM_LARGE          ((size_t)64 << 10)

#define KEPT_LEAST ((size_t)128 << 10) /* the least block that malloc() maps by itself */
#define KEPT_MOST  ((size_t)4 << 20)

/*
 * A large block that no stream uses now; it begins with its capacity. A source of 1 MB that came and went with each
 * program made glibc give NVRTC's copies of it back to the kernel too, at a quarter of all sizes: where this block
 * takes a page more than they do.
 */
static _Atomic(uint8_t *) kept;

static uint8_t *take_kept(size_t need, size_t *ret_capacity)
{
	uint8_t *block = atomic_exchange(&kept, NULL);
	size_t capacity = 0;

	if (block) {
		memcpy(&capacity, block, sizeof(capacity));
	}
	if (capacity < need || capacity / 2 > need) { /* a much larger one would be held as long as the stream lives */
		free(block);
		return NULL;
	}
	*ret_capacity = capacity;
	return block;
}

static void free_block(uint8_t *block, size_t capacity)
{
	if (capacity >= KEPT_LEAST && capacity <= KEPT_MOST) {
		memcpy(block, &capacity, sizeof(capacity));
		block = atomic_exchange(&kept, block);
	}
	free(block);
}

static bool stream_reserve(struct stream *stream, size_t more)
{
	size_t need, capacity;
	uint8_t *bytes;

	if (stream->failed) {
		return false;
	}
	if (__builtin_add_overflow(stream->size, more, &need)) {
		goto failed;
	}
	if (need <= stream->capacity) {
		return true;
	}
	/*
	 * Grows in proportion to the size, so that appending takes linear time, or, if that is not enough, to the
	 * needed size and room for short fields after it. A large stream holds a large source, to which little is
	 * appended: a realloc() for that would take 0.6 ms for 1 MB, and if the stream were doubled, free() would
	 * return twice as much memory to the kernel each time.
	 */
	if (__builtin_add_overflow(need, STREAM_FIRST_CAPACITY, &need) ||
	    __builtin_add_overflow(stream->capacity, stream->capacity / (stream->capacity < STREAM_LARGE ? 1 : 16),
	                           &capacity) ||
	    capacity < need) {
		capacity = need;
	}
	bytes = stream->capacity < KEPT_LEAST && need >= KEPT_LEAST ? take_kept(need, &capacity) : NULL;
	if (bytes) {
		memcpy(bytes, stream->bytes ? stream->bytes : bytes, stream->size);
		free(stream->bytes);
	} else {
		bytes = realloc(stream->bytes, capacity);
	}
	if (!bytes) {
		goto failed;
	}
	stream->bytes = bytes;
	stream->capacity = capacity;
	return true;
failed:
	stream->failed = true;
	return false;
}

void stream_bytes(struct stream *stream, const void *bytes, size_t size)
{
	if (!stream_reserve(stream, size) || size == 0) {
		return;
	}
	memcpy(stream->bytes + stream->size, bytes, size);
	stream->size += size;
}

/* Numbers are little-endian on every machine, so that a cache directory may be shared between them. */
void stream_u32(struct stream *stream, uint32_t value)
{
	value = htole32(value);
	stream_bytes(stream, &value, sizeof(value));
}

void stream_u64(struct stream *stream, uint64_t value)
{
	value = htole64(value);
	stream_bytes(stream, &value, sizeof(value));
}

/* Tag and length come first, so that two different lists of fields never give the same bytes. */
void stream_field(struct stream *stream, uint8_t tag, const void *bytes, size_t size)
{
	const uint64_t length = htole64(size);
	const size_t head = 1 + sizeof(length);
	size_t whole;
	uint8_t *at;

	if (__builtin_add_overflow(head, size, &whole)) {
		stream->failed = true;
		return;
	}
	if (!stream_reserve(stream, whole)) {
		return;
	}
	at = stream->bytes + stream->size;
	at[0] = tag;
	memcpy(at + 1, &length, sizeof(length));
	if (size) {
		memcpy(at + head, bytes, size);
	}
	stream->size += whole;
}

void stream_string(struct stream *stream, uint8_t tag, const char *string)
{
	stream_field(stream, tag, string, string ? strlen(string) : 0);
}

void stream_number(struct stream *stream, uint8_t tag, uint64_t value)
{
	value = htole64(value);
	stream_field(stream, tag, &value, sizeof(value));
}

void stream_free(struct stream *stream)
{
	free_block(stream->bytes, stream->capacity);
	*stream = STREAM_EMPTY;
}

/* Arithmetic on a null pointer is undefined, even with size 0. */
struct cursor cursor_over(const void *bytes, size_t size)
{
	static const uint8_t nothing[1];
	const uint8_t *at = bytes ? bytes : nothing;

	return (struct cursor){.at = at, .end = at + (bytes ? size : 0)};
}

uint32_t cursor_u32(struct cursor *cursor)
{
	const void *at = cursor_bytes(cursor, sizeof(uint32_t));
	uint32_t value = 0;

	if (at) {
		memcpy(&value, at, sizeof(value));
	}
	return le32toh(value);
}

uint64_t cursor_u64(struct cursor *cursor)
{
	const void *at = cursor_bytes(cursor, sizeof(uint64_t));
	uint64_t value = 0;

	if (at) {
		memcpy(&value, at, sizeof(value));
	}
	return le64toh(value);
}

bool cursor_next(struct cursor *cursor, uint8_t *ret_tag, struct span *ret_field)
{
	const uint8_t *head, *bytes;
	uint64_t size = 0;

	if (cursor->failed || cursor->at == cursor->end) {
		return false;
	}
	head = cursor_bytes(cursor, 1 + sizeof(size));
	if (head) {
		memcpy(&size, head + 1, sizeof(size));
	}
	size = le64toh(size);
	bytes = cursor_bytes(cursor, (size_t)size);
	if (!bytes) {
		return false;
	}
	*ret_tag = *head;
	*ret_field = (struct span){bytes, (size_t)size};
	return true;
}

const void *cursor_field(struct cursor *cursor, uint8_t tag, size_t *ret_size)
{
	struct span field;

	if (cursor->at == cursor->end || *cursor->at != tag || !cursor_next(cursor, &tag, &field)) {
		cursor->failed = true;
		return NULL;
	}
	*ret_size = field.size;
	return field.bytes;
}

bool cursor_at_end(const struct cursor *cursor)
{
	return !cursor->failed && cursor->at == cursor->end;
}

_Static_assert(sizeof(size_t) == sizeof(uint64_t), "every size of a field fits");

#define WAYS 4

/*
 * The digests that this process has computed, under the fingerprint and the size of the bytes, newest first. A thread
 * that finds a set locked passes it by, and at worst computes a digest again: no thread waits, and no fork handler is
 * needed.
 */
static struct set {
	atomic_flag busy;
	struct remembered {
		struct fingerprint print;
		uint64_t size;
		struct key digest;
	} contents[WAYS];
} sets[CONTENT_REMEMBERED / WAYS];

static struct set *lock_set(const struct fingerprint *print)
{
	struct set *set = &sets[print->low % (CONTENT_REMEMBERED / WAYS)];

	return atomic_flag_test_and_set_explicit(&set->busy, memory_order_acquire) ? NULL : set;
}

static void unlock_set(struct set *set)
{
	atomic_flag_clear_explicit(&set->busy, memory_order_release);
}

static bool recall_digest(const struct fingerprint *print, uint64_t size, struct key *ret_digest)
{
	struct set *set = lock_set(print);
	bool found = false;

	for (size_t i = 0; set && i < WAYS && !found; i++) {
		const struct remembered *content = &set->contents[i];

		found = content->print.low == print->low && content->print.high == print->high && content->size == size;
		*ret_digest = found ? content->digest : *ret_digest;
	}
	if (set) {
		unlock_set(set);
	}
	return found;
}

/* Drops the oldest digest of the set. */
static void keep_digest(const struct fingerprint *print, uint64_t size, const struct key *digest)
{
	struct set *set = lock_set(print);

	if (set) {
		memmove(&set->contents[1], &set->contents[0], (WAYS - 1) * sizeof(set->contents[0]));
		set->contents[0] = (struct remembered){*print, size, *digest};
		unlock_set(set);
	}
}

enum content_form content_digest(const struct secret *secret, const struct span *spans, size_t count,
                                 struct key *ret_digest)
{
	struct fingerprint fingerprint;
	uint64_t size = 0;

	if (!secret) {
		digest_key(spans, count, ret_digest);
		return CONTENT_DIGESTED;
	}
	digest_fingerprint(secret, spans, count, &fingerprint);
	for (size_t i = 0; i < count; i++) {
		size += spans[i].size;
	}
	if (recall_digest(&fingerprint, size, ret_digest)) {
		return CONTENT_RECALLED;
	}
	digest_key(spans, count, ret_digest);
	keep_digest(&fingerprint, size, ret_digest);
	return CONTENT_DIGESTED;
}

enum content_form content_put(struct stream *stream, struct content_tags tags, const struct secret *secret,
                              const void *bytes, size_t size)
{
	/* The size is digested too, so that this digest never equals the key of an entry over the same bytes. */
	const uint64_t head = size;
	const struct span spans[] = {{&head, sizeof(head)}, {bytes, size}};
	enum content_form form;
	struct key digest;

	if (size <= CONTENT_WHOLE_MAX) {
		stream_field(stream, tags.whole, bytes, size);
		return CONTENT_WHOLE;
	}
	form = content_digest(secret, spans, 2, &digest);
	stream_field(stream, tags.digest, digest.bytes, sizeof(digest.bytes));
	return form;
}

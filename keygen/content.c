/* SPDX-License-Identifier: MIT */
#include "keygen/content.h"

#include <stdatomic.h>
#include <string.h>

#define WAYS 4

/*
 * A digest that this process has computed, under the fingerprint and the size of the bytes. A thread that finds a slot
 * locked skips it, and at worst computes a digest again: no thread waits, and no fork handler is needed.
 */
struct slot {
	atomic_flag busy;
	struct remembered {
		struct fingerprint print;
		uint64_t size;
		struct key digest;
	} content;
};

static struct slot slots[CONTENT_REMEMBERED];

static bool lock_slot(struct slot *slot)
{
	return !atomic_flag_test_and_set_explicit(&slot->busy, memory_order_acquire);
}

static void unlock_slot(struct slot *slot)
{
	atomic_flag_clear_explicit(&slot->busy, memory_order_release);
}

static struct slot *set_of(const struct fingerprint *print)
{
	return &slots[print->low % (CONTENT_REMEMBERED / WAYS) * WAYS];
}

static bool recall_digest(const struct fingerprint *print, uint64_t size, struct key *ret_digest)
{
	struct slot *set = set_of(print);
	bool found = false;

	for (size_t i = 0; i < WAYS && !found; i++) {
		if (lock_slot(&set[i])) {
			const struct remembered *content = &set[i].content;

			found = content->print.low == print->low && content->print.high == print->high &&
			        content->size == size;
			*ret_digest = found ? content->digest : *ret_digest;
			unlock_slot(&set[i]);
		}
	}
	return found;
}

/* Moves the digests of the set on by one, so that the oldest one is dropped. */
static void keep_digest(const struct fingerprint *print, uint64_t size, const struct key *digest)
{
	struct slot *set = set_of(print);
	struct remembered next = {*print, size, *digest};

	for (size_t i = 0; i < WAYS; i++) {
		if (lock_slot(&set[i])) {
			const struct remembered dropped = set[i].content;

			set[i].content = next;
			next = dropped;
			unlock_slot(&set[i]);
		}
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

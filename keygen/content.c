/* SPDX-License-Identifier: MIT */
/*
 * Remembered digests are in a set-associative table with a lock bit per slot. A thread that finds a slot locked skips
 * it, at worst computing a digest again, so the table needs neither waiting nor a fork handler.
 */
#include "keygen/content.h"

#include <stdatomic.h>

#define WAYS 4

struct slot {
	atomic_flag busy;
	bool set;
	size_t size;
	struct fingerprint fingerprint;
	struct key digest;
};

static struct slot table[CONTENT_REMEMBERED] = {[0 ... CONTENT_REMEMBERED - 1] = {.busy = ATOMIC_FLAG_INIT}};

static struct slot *set_of(const struct fingerprint *fingerprint)
{
	return &table[fingerprint->low % (CONTENT_REMEMBERED / WAYS) * WAYS];
}

static bool lock_slot(struct slot *slot)
{
	return !atomic_flag_test_and_set_explicit(&slot->busy, memory_order_acquire);
}

static void unlock_slot(struct slot *slot)
{
	atomic_flag_clear_explicit(&slot->busy, memory_order_release);
}

static bool recall_digest(const struct fingerprint *fingerprint, size_t size, struct key *ret_digest)
{
	struct slot *slots = set_of(fingerprint);
	bool found = false;

	for (size_t i = 0; i < WAYS && !found; i++) {
		if (!lock_slot(&slots[i])) {
			continue;
		}
		found = slots[i].set && slots[i].size == size && slots[i].fingerprint.low == fingerprint->low &&
		        slots[i].fingerprint.high == fingerprint->high;
		if (found) {
			*ret_digest = slots[i].digest;
		}
		unlock_slot(&slots[i]);
	}
	return found;
}

/* Stores the digest in an empty slot, or else replaces the slots of the set in turn. */
static void remember_digest(const struct fingerprint *fingerprint, size_t size, const struct key *digest)
{
	static _Atomic unsigned turn;
	struct slot *slots = set_of(fingerprint);
	unsigned last = atomic_fetch_add_explicit(&turn, 1, memory_order_relaxed) % WAYS;
	bool done = false;

	for (size_t i = 0; i <= WAYS && !done; i++) {
		struct slot *slot = &slots[i < WAYS ? i : last];

		if (!lock_slot(slot)) {
			continue;
		}
		done = !slot->set || i == WAYS;
		if (done) {
			slot->set = true;
			slot->size = size;
			slot->fingerprint = *fingerprint;
			slot->digest = *digest;
		}
		unlock_slot(slot);
	}
}

enum content_form content_digest(const struct secret *secret, const struct span *spans, size_t count,
                                 struct key *ret_digest)
{
	struct fingerprint fingerprint;
	size_t size = 0;

	for (size_t i = 0; i < count; i++) {
		size += spans[i].size;
	}
	if (secret) {
		digest_fingerprint(secret, spans, count, &fingerprint);
	}
	if (secret && recall_digest(&fingerprint, size, ret_digest)) {
		return CONTENT_RECALLED;
	}
	digest_key(spans, count, ret_digest);
	if (secret) {
		remember_digest(&fingerprint, size, ret_digest);
	}
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

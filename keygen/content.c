/* SPDX-License-Identifier: MIT */
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

/* In an empty place, or in one by turns. */
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

/* The size goes in as well, so that the digest is of nothing that could be confused with an entry's key. */
static void digest_content(const void *bytes, size_t size, struct key *ret_digest)
{
	const uint64_t head = size;
	const struct span spans[] = {{&head, sizeof(head)}, {bytes, size}};

	digest_key(spans, 2, ret_digest);
}

enum content_form content_put(struct stream *stream, struct content_tags tags, const struct secret *secret,
                              const void *bytes, size_t size)
{
	const struct span span = {bytes, size};
	struct fingerprint fingerprint;
	struct key key;
	bool recalled;

	if (size <= CONTENT_WHOLE_MAX) {
		stream_field(stream, tags.whole, bytes, size);
		return CONTENT_WHOLE;
	}
	if (secret) {
		digest_fingerprint(secret, &span, 1, &fingerprint);
	}
	recalled = secret && recall_digest(&fingerprint, size, &key);
	if (!recalled) {
		digest_content(bytes, size, &key);
	}
	if (secret && !recalled) {
		remember_digest(&fingerprint, size, &key);
	}
	stream_field(stream, tags.digest, key.bytes, sizeof(key.bytes));
	return recalled ? CONTENT_RECALLED : CONTENT_DIGESTED;
}

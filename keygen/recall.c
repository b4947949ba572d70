/* SPDX-License-Identifier: MIT */
/*
 * A set-associative table with a lock bit per slot. A thread that finds a slot locked skips it; at worst it computes a
 * digest again. So no thread waits, and the table needs no fork handler.
 */
#include "keygen/recall.h"

#include <stdlib.h>
#include <string.h>

#define WAYS 4

struct recall_slot {
	atomic_flag busy;
	bool set;
	struct recall_key key;
	struct key digest;
};

/* Returns the first slot of the set that the key belongs to. */
static struct recall_slot *set_of(const struct recall *recall, struct recall_slot *slots, const struct recall_key *key)
{
	uint64_t mixed = 0;

	for (size_t i = 0; i < sizeof(key->words) / sizeof(key->words[0]); i++) {
		mixed = (mixed ^ key->words[i]) * UINT64_C(0x9e3779b97f4a7c15);
		mixed ^= mixed >> 32;
	}
	return &slots[mixed % (recall->count / WAYS) * WAYS];
}

static bool lock_slot(struct recall_slot *slot)
{
	return !atomic_flag_test_and_set_explicit(&slot->busy, memory_order_acquire);
}

static void unlock_slot(struct recall_slot *slot)
{
	atomic_flag_clear_explicit(&slot->busy, memory_order_release);
}

bool recall_find(struct recall *recall, const struct recall_key *key, struct key *ret_digest)
{
	struct recall_slot *slots = atomic_load_explicit(&recall->slots, memory_order_acquire);
	bool found = false;

	if (!slots) {
		return false;
	}
	slots = set_of(recall, slots, key);
	for (size_t i = 0; i < WAYS && !found; i++) {
		if (!lock_slot(&slots[i])) {
			continue;
		}
		found = slots[i].set && memcmp(&slots[i].key, key, sizeof(*key)) == 0;
		if (found) {
			*ret_digest = slots[i].digest;
		}
		unlock_slot(&slots[i]);
	}
	return found;
}

/* Returns the slots, or NULL without memory; the first caller allocates them. */
static struct recall_slot *get_slots(struct recall *recall)
{
	struct recall_slot *slots = atomic_load_explicit(&recall->slots, memory_order_acquire);
	struct recall_slot *others = NULL;

	if (slots) {
		return slots;
	}
	slots = calloc(recall->count, sizeof(*slots)); /* with all supported compilers a clear atomic_flag is zero */
	if (slots && !atomic_compare_exchange_strong_explicit(&recall->slots, &others, slots, memory_order_acq_rel,
	                                                      memory_order_acquire)) {
		free(slots);
		slots = others;
	}
	return slots;
}

/* Fills an empty slot of the set, or else replaces one of its slots, a different one each time. */
void recall_keep(struct recall *recall, const struct recall_key *key, const struct key *digest)
{
	struct recall_slot *slots = get_slots(recall);
	unsigned last = atomic_fetch_add_explicit(&recall->turn, 1, memory_order_relaxed) % WAYS;
	bool done = false;

	if (!slots) {
		return;
	}
	slots = set_of(recall, slots, key);
	for (size_t i = 0; i <= WAYS && !done; i++) {
		struct recall_slot *slot = &slots[i < WAYS ? i : last];

		if (!lock_slot(slot)) {
			continue;
		}
		done = !slot->set || i == WAYS;
		if (done) {
			slot->set = true;
			slot->key = *key;
			slot->digest = *digest;
		}
		unlock_slot(slot);
	}
}

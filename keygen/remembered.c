/* SPDX-License-Identifier: MIT */
#include "keygen/remembered.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define WAYS 4

struct slot {
	atomic_flag busy;
	bool set;
	struct remembered_file file;
	struct key digest;
};

static _Atomic(struct slot *) table;

static bool same_file(const struct remembered_file *one, const struct remembered_file *other)
{
	return mount_same(&one->mount, &other->mount) && file_stamp_same(&one->stamp, &other->stamp) &&
	       memcmp(one->who, other->who, sizeof(one->who)) == 0;
}

/* Where the set of slots begins that the file may be in. */
static size_t set_of(const struct remembered_file *file)
{
	uint64_t mixed = (file->stamp.inode ^ (file->stamp.device << 32)) * UINT64_C(0x9e3779b97f4a7c15);

	return (size_t)(mixed >> 32) % (REMEMBERED_FILES / WAYS) * WAYS;
}

static struct slot *take(struct slot *slot)
{
	return atomic_flag_test_and_set_explicit(&slot->busy, memory_order_acquire) ? NULL : slot;
}

static void release(struct slot *slot)
{
	atomic_flag_clear_explicit(&slot->busy, memory_order_release);
}

bool remembered_find(const struct remembered_file *file, struct key *ret_digest)
{
	struct slot *slots = atomic_load_explicit(&table, memory_order_acquire);
	bool found = false;

	if (!slots) {
		return false;
	}
	slots += set_of(file);
	for (size_t i = 0; i < WAYS && !found; i++) {
		struct slot *slot = take(&slots[i]);

		if (slot) {
			found = slot->set && same_file(&slot->file, file);
			if (found) {
				*ret_digest = slot->digest;
			}
			release(slot);
		}
	}
	return found;
}

/* The table, made by whoever comes first. */
static struct slot *get_table(void)
{
	struct slot *slots = atomic_load_explicit(&table, memory_order_acquire);
	struct slot *others = NULL;

	if (slots) {
		return slots;
	}
	slots =
	    calloc(REMEMBERED_FILES, sizeof(*slots)); /* a clear atomic_flag is zero with every compiler that we know */
	if (slots && !atomic_compare_exchange_strong_explicit(&table, &others, slots, memory_order_acq_rel,
	                                                      memory_order_acquire)) {
		free(slots);
		slots = others;
	}
	return slots;
}

static void fill(struct slot *slot, const struct remembered_file *file, const struct key *digest)
{
	slot->set = true;
	slot->file = *file;
	slot->digest = *digest;
}

/* In the place of the same file's earlier state, or an empty one, or one by turns. */
void remembered_keep(const struct remembered_file *file, const struct key *digest)
{
	static _Atomic unsigned turn;
	struct slot *slots = get_table();
	struct slot *slot;
	bool done = false;

	if (!slots) {
		return;
	}
	slots += set_of(file);
	for (size_t i = 0; i < WAYS && !done; i++) {
		slot = take(&slots[i]);
		if (!slot) {
			continue;
		}
		done = !slot->set ||
		       (slot->file.stamp.inode == file->stamp.inode && slot->file.stamp.device == file->stamp.device);
		if (done) {
			fill(slot, file, digest);
		}
		release(slot);
	}
	slot = done ? NULL : take(&slots[atomic_fetch_add_explicit(&turn, 1, memory_order_relaxed) % WAYS]);
	if (slot) {
		fill(slot, file, digest);
		release(slot);
	}
}

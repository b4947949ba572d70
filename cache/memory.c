/* SPDX-License-Identifier: MIT */
/*
 * States of an entry:
 *
 *     (none) --put--> linked, newest in its shard <--get--> linked, newest in its shard
 *                       \--put of the same dependencies, eviction, close--> unlinked (callers' references stay valid)
 *
 * Each shard has a list of its entries in order of use. The order across shards comes from a clock that only
 * memory_put() advances, so that memory_get() reads it without writing to a shared cache line. Eviction compares the
 * oldest entries of all shards and removes the oldest. Room is reserved before an entry is linked, so the sum never
 * exceeds the cap. No thread holds two locks at once, or a lock while it frees an entry.
 */
#include "cache/memory.h"

#include "cache/fork_mutex.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define SHARDS      16
#define SHARD_BITS  4
#define BUCKETS_MIN ((size_t)64)
#define BUCKETS_MAX ((size_t)1 << 16)
/* Bytes of cap per bucket. With the default cap all buckets take 16 KiB, for which malloc() needs no mmap(). */
#define BYTES_PER_BUCKET 32768
/* The overhead of a result: struct entry and the bookkeeping of malloc(). */
#define OVERHEAD_BYTES 96
#define NEVER          UINT64_MAX

struct node {
	uint64_t low, high;
	struct node *next;          /* in the bucket; the results of one fingerprint are newest first */
	struct node *newer, *older; /* in order of use */
	struct entry *entry;
	uint64_t cost;
	size_t dependencies_size;
	uint64_t used; /* memory->clock at the last use */
};

struct shard {
	_Alignas(64) struct fork_mutex lock;
	struct node **buckets;
	struct node *newest, *oldest;
	uint64_t bytes;               /* cost of all linked nodes */
	_Atomic uint64_t oldest_used; /* oldest->used, or NEVER if the shard is empty; written under the lock */
};

struct memory {
	_Alignas(64) _Atomic uint64_t total;
	size_t bucket_mask;
	uint64_t max_bytes;
	struct node **buckets;
	_Atomic uint64_t clock;
	struct shard shards[SHARDS];
};

int memory_open(uint64_t max_bytes, struct memory **ret_memory)
{
	struct memory *memory = aligned_alloc(_Alignof(struct memory), sizeof(*memory));
	size_t count = BUCKETS_MIN;

	if (memory == NULL) {
		return -ENOMEM;
	}
	memset(memory, 0, sizeof(*memory));
	while (count < BUCKETS_MAX && count < max_bytes / SHARDS / BYTES_PER_BUCKET) {
		count *= 2;
	}
	if (max_bytes > 0) {
		memory->buckets = calloc(SHARDS * count, sizeof(struct node *));
		if (memory->buckets == NULL) {
			free(memory);
			return -ENOMEM;
		}
	}
	memory->max_bytes = max_bytes;
	memory->bucket_mask = count - 1;
	for (size_t i = 0; i < SHARDS; i++) {
		struct shard *shard = &memory->shards[i];

		fork_mutex_init(&shard->lock);
		shard->buckets = memory->buckets != NULL ? memory->buckets + i * count : NULL;
		atomic_init(&shard->oldest_used, NEVER);
	}
	*ret_memory = memory;
	return 0;
}

static void node_free(struct node *node)
{
	entry_unref(node->entry);
	free(node);
}

void memory_close(struct memory *memory)
{
	if (memory == NULL) {
		return;
	}
	for (size_t i = 0; i < SHARDS; i++) {
		struct node *node = memory->shards[i].oldest;

		while (node != NULL) {
			struct node *newer = node->newer;

			node_free(node);
			node = newer;
		}
		fork_mutex_destroy(&memory->shards[i].lock);
	}
	free(memory->buckets);
	free(memory);
}

static struct shard *shard_of(struct memory *memory, uint64_t low)
{
	return &memory->shards[low & (SHARDS - 1)];
}

static struct node **bucket_of(const struct memory *memory, const struct shard *shard, uint64_t low)
{
	return &shard->buckets[(low >> SHARD_BITS) & memory->bucket_mask];
}

/* The caller of link_newest(), unlink_use(), touch_node() and detach_node() holds the shard's lock. */
static void link_newest(struct memory *memory, struct shard *shard, struct node *node)
{
	node->used = atomic_load_explicit(&memory->clock, memory_order_relaxed);
	node->newer = NULL;
	node->older = shard->newest;
	if (shard->newest != NULL) {
		shard->newest->newer = node;
	} else {
		shard->oldest = node;
	}
	shard->newest = node;
	atomic_store_explicit(&shard->oldest_used, shard->oldest->used, memory_order_relaxed);
}

static void unlink_use(struct shard *shard, struct node *node)
{
	if (node->newer != NULL) {
		node->newer->older = node->older;
	} else {
		shard->newest = node->older;
	}
	if (node->older != NULL) {
		node->older->newer = node->newer;
	} else {
		shard->oldest = node->newer;
	}
	atomic_store_explicit(&shard->oldest_used, shard->oldest != NULL ? shard->oldest->used : NEVER,
	                      memory_order_relaxed);
}

static void touch_node(struct memory *memory, struct shard *shard, struct node *node)
{
	unlink_use(shard, node);
	link_newest(memory, shard, node);
}

/* Unlinks a node. The caller frees it after it has released the lock. */
static void detach_node(struct memory *memory, struct shard *shard, struct node *node)
{
	struct node **link = bucket_of(memory, shard, node->low);

	while (*link != node) {
		link = &(*link)->next;
	}
	*link = node->next;
	unlink_use(shard, node);
	shard->bytes -= node->cost;
	atomic_fetch_sub_explicit(&memory->total, node->cost, memory_order_relaxed);
}

static void touch_entry(struct memory *memory, uint64_t low, const struct entry *entry)
{
	struct shard *shard = shard_of(memory, low);
	struct node *node;

	fork_mutex_lock(&shard->lock);
	node = *bucket_of(memory, shard, low);
	while (node != NULL && node->entry != entry) {
		node = node->next;
	}
	if (node != NULL) {
		touch_node(memory, shard, node);
	}
	fork_mutex_unlock(&shard->lock);
}

static bool passes_check(const struct entry *entry, store_check *check, void *context)
{
	size_t size;
	const void *dependencies = entry_dependencies(entry, &size);

	return check == NULL || size == 0 || check(context, dependencies, size);
}

struct entry *memory_get(struct memory *memory, uint64_t low, uint64_t high, store_check *check, void *context)
{
	struct entry *candidates[STORE_RESULTS_MAX];
	struct entry *found = NULL;
	size_t count = 0;
	size_t found_at = 0;
	struct shard *shard;
	bool certain = false;

	if (memory == NULL || memory->max_bytes == 0) {
		return NULL;
	}
	shard = shard_of(memory, low);
	fork_mutex_lock(&shard->lock);
	for (struct node *node = *bucket_of(memory, shard, low); node != NULL; node = node->next) {
		if (node->low != low || node->high != high) {
			continue;
		}
		if (count == 0) { /* most hits use the newest entry; touching it here saves locking again */
			touch_node(memory, shard, node);
		}
		candidates[count++] = entry_ref(node->entry);
		certain = check == NULL || node->dependencies_size == 0;
		if (certain || count == STORE_RESULTS_MAX) {
			break;
		}
	}
	fork_mutex_unlock(&shard->lock);
	if (certain && count == 1) {
		return candidates[0];
	}

	for (size_t i = 0; i < count; i++) {
		if (found == NULL && passes_check(candidates[i], check, context)) {
			found = candidates[i];
			found_at = i;
		} else {
			entry_unref(candidates[i]);
		}
	}
	if (found_at > 0) {
		touch_entry(memory, low, found);
	}
	return found;
}

static bool evict_one(struct memory *memory)
{
	struct shard *shard = NULL;
	struct node *node;
	uint64_t oldest = NEVER;

	for (size_t i = 0; i < SHARDS; i++) {
		uint64_t used = atomic_load_explicit(&memory->shards[i].oldest_used, memory_order_relaxed);

		if (used < oldest) {
			oldest = used;
			shard = &memory->shards[i];
		}
	}
	if (shard == NULL) {
		return false;
	}
	fork_mutex_lock(&shard->lock);
	node = shard->oldest;
	if (node != NULL) {
		detach_node(memory, shard, node);
	}
	fork_mutex_unlock(&shard->lock);
	if (node != NULL) {
		node_free(node);
	}
	return true;
}

/*
 * Reserves `cost` bytes, and evicts until there is room. Returns false if nothing is left to evict, because the rest is
 * reserved by other threads that have not linked their entries yet.
 */
static bool reserve_bytes(struct memory *memory, uint64_t cost)
{
	uint64_t total = atomic_load_explicit(&memory->total, memory_order_relaxed);

	for (;;) {
		if (cost <= memory->max_bytes - total) {
			if (atomic_compare_exchange_weak_explicit(&memory->total, &total, total + cost,
			                                          memory_order_relaxed, memory_order_relaxed)) {
				return true;
			}
		} else {
			if (!evict_one(memory)) {
				return false;
			}
			total = atomic_load_explicit(&memory->total, memory_order_relaxed);
		}
	}
}

/* Returns the cached result whose dependencies require the same as those of `entry`, or NULL. The caller unrefs it. */
static struct entry *find_same(struct memory *memory, uint64_t low, uint64_t high, const struct entry *entry)
{
	struct entry *candidates[STORE_RESULTS_MAX];
	struct entry *found = NULL;
	struct shard *shard = shard_of(memory, low);
	size_t count = 0;
	size_t size;
	const void *dependencies = entry_dependencies(entry, &size);

	fork_mutex_lock(&shard->lock);
	for (struct node *node = *bucket_of(memory, shard, low); node != NULL; node = node->next) {
		if (node->low == low && node->high == high && node->dependencies_size == size &&
		    count < STORE_RESULTS_MAX) {
			candidates[count++] = entry_ref(node->entry);
		}
	}
	fork_mutex_unlock(&shard->lock);
	for (size_t i = 0; i < count; i++) {
		const void *others = entry_dependencies(candidates[i], &size);

		if (found == NULL && (size == 0 || memcmp(others, dependencies, size) == 0)) {
			found = candidates[i];
		} else {
			entry_unref(candidates[i]);
		}
	}
	return found;
}

/*
 * Makes `fresh` the newest entry of its fingerprint. Returns the entries that it replaces or evicts, chained by `next`.
 */
static struct node *insert_node(struct memory *memory, struct node *fresh, const struct entry *same)
{
	struct shard *shard = shard_of(memory, fresh->low);
	struct node **bucket = bucket_of(memory, shard, fresh->low);
	struct node *gone = NULL;
	struct node *next;
	size_t count = 1;

	fork_mutex_lock(&shard->lock);
	for (struct node *node = *bucket; node != NULL; node = next) {
		next = node->next;
		if (node->low != fresh->low || node->high != fresh->high) {
			continue;
		}
		if (node->entry == same || node->entry == fresh->entry || count == STORE_RESULTS_MAX) {
			detach_node(memory, shard, node);
			node->next = gone;
			gone = node;
		} else {
			count++;
		}
	}
	fresh->next = *bucket;
	*bucket = fresh;
	link_newest(memory, shard, fresh);
	shard->bytes += fresh->cost;
	fork_mutex_unlock(&shard->lock);
	return gone;
}

void memory_put(struct memory *memory, uint64_t low, uint64_t high, struct entry *entry)
{
	uint64_t size = entry_info(entry)->total_size;
	uint64_t cost = size + sizeof(struct node) + OVERHEAD_BYTES;
	struct entry *same;
	struct node *fresh;
	struct node *gone;

	if (memory == NULL || size > memory->max_bytes / 4 || cost > memory->max_bytes) {
		return;
	}
	fresh = malloc(sizeof(*fresh));
	if (fresh == NULL) {
		return;
	}
	if (!reserve_bytes(memory, cost)) {
		free(fresh);
		return;
	}
	fresh->low = low;
	fresh->high = high;
	fresh->entry = entry_ref(entry);
	fresh->cost = cost;
	entry_dependencies(entry, &fresh->dependencies_size);
	atomic_fetch_add_explicit(&memory->clock, 1, memory_order_relaxed);

	same = find_same(memory, low, high, entry);
	gone = insert_node(memory, fresh, same);
	while (gone != NULL) {
		struct node *next = gone->next;

		node_free(gone);
		gone = next;
	}
	entry_unref(same);
}

/*
 * Empties the shards that other threads were changing at the fork; their nodes leak. Reservations of those threads are
 * dropped too, because the total is computed again from the shards.
 */
void memory_fork_child(struct memory *memory)
{
	uint64_t total = 0;

	for (size_t i = 0; memory != NULL && i < SHARDS; i++) {
		struct shard *shard = &memory->shards[i];

		if (!fork_mutex_fork_child(&shard->lock)) {
			if (shard->buckets != NULL) {
				memset(shard->buckets, 0, (memory->bucket_mask + 1) * sizeof(struct node *));
			}
			shard->newest = NULL;
			shard->oldest = NULL;
			shard->bytes = 0;
			atomic_store_explicit(&shard->oldest_used, NEVER, memory_order_relaxed);
		}
		total += shard->bytes;
	}
	if (memory != NULL) {
		atomic_store_explicit(&memory->total, total, memory_order_relaxed);
	}
}

/* SPDX-License-Identifier: MIT */
/*
 * States of an entry:
 *
 *     (none) --put--> linked, the newest in the list of use <--get--> linked, the newest
 *                       \--put of the same dependencies, eviction--> unlinked (callers' references stay valid)
 *
 * One lock protects a hash table and the list of use. It is held for some loads and stores, and, by memory_put() only,
 * while dependencies of equal size are compared; never while `check` runs or an entry is freed.
 */
#include "cache/memory.h"

#include "cache/fork_mutex.h"

#include <stdlib.h>
#include <string.h>

#define BUCKETS 8192 /* one for each 8 KiB of the default limit */
/* The overhead of a result: struct entry and the bookkeeping of malloc(). */
#define OVERHEAD_BYTES 96

struct node {
	uint64_t low, high;
	struct node *next;          /* in the bucket; the results of one fingerprint are newest first */
	struct node *newer, *older; /* in order of use */
	struct entry *entry;
	uint64_t cost;
};

struct memory {
	struct fork_mutex lock;
	uint64_t max_bytes;
	uint64_t bytes; /* cost of all linked nodes */
	struct node *newest, *oldest;
	struct node *buckets[BUCKETS]; /* in .bss: only pages that are used are touched */
};

struct memory *memory_open(uint64_t max_bytes)
{
	static struct memory memory = {.lock = FORK_MUTEX_INITIALIZER};

	memory.max_bytes = max_bytes;
	return &memory;
}

/* Frees nodes that are not linked any more, chained by `next`. */
static void free_nodes(struct node *node)
{
	while (node != NULL) {
		struct node *next = node->next;

		entry_unref(node->entry);
		free(node);
		node = next;
	}
}

/* The caller of the functions from here to detach_node() holds the lock. */

static struct node **bucket_of(struct memory *memory, uint64_t low)
{
	return &memory->buckets[low % BUCKETS];
}

static bool is_of(const struct node *node, uint64_t low, uint64_t high)
{
	return node->low == low && node->high == high;
}

static void link_newest(struct memory *memory, struct node *node)
{
	node->newer = NULL;
	node->older = memory->newest;
	*(node->older != NULL ? &node->older->newer : &memory->oldest) = node;
	memory->newest = node;
}

static void unlink_use(struct memory *memory, struct node *node)
{
	*(node->newer != NULL ? &node->newer->older : &memory->newest) = node->older;
	*(node->older != NULL ? &node->older->newer : &memory->oldest) = node->newer;
}

static void touch_node(struct memory *memory, struct node *node)
{
	if (node != memory->newest) {
		unlink_use(memory, node);
		link_newest(memory, node);
	}
}

/* Unlinks a node and puts it before `gone`, whose nodes are freed after the lock was released. */
static struct node *detach_node(struct memory *memory, struct node *node, struct node *gone)
{
	struct node **link = bucket_of(memory, node->low);

	while (*link != node) {
		link = &(*link)->next;
	}
	*link = node->next;
	unlink_use(memory, node);
	memory->bytes -= node->cost;
	node->next = gone;
	return node;
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
	bool certain = false;

	if (memory->max_bytes == 0) {
		return NULL;
	}
	fork_mutex_lock(&memory->lock);
	for (struct node *node = *bucket_of(memory, low); node != NULL && !certain; node = node->next) {
		if (!is_of(node, low, high)) {
			continue;
		}
		touch_node(memory, node); /* which of them holds is found out without the lock */
		candidates[count++] = entry_ref(node->entry);
		certain =
		    check == NULL || entry_info(node->entry)->dependencies_size == 0 || count == STORE_RESULTS_MAX;
	}
	fork_mutex_unlock(&memory->lock);
	for (size_t i = 0; i < count; i++) {
		if (found == NULL && passes_check(candidates[i], check, context)) {
			found = candidates[i];
		} else {
			entry_unref(candidates[i]);
		}
	}
	return found;
}

static bool same_dependencies(const struct node *one, const struct node *other)
{
	size_t size, other_size;
	const void *left = entry_dependencies(one->entry, &size);
	const void *right = entry_dependencies(other->entry, &other_size);

	return size == other_size && memcmp(left, right, size) == 0;
}

/* Unlinks the results of a fingerprint for which `fresh` has no room beside it. Returns them. */
static struct node *detach_replaced(struct memory *memory, const struct node *fresh)
{
	struct node *gone = NULL;
	struct node *next;
	size_t count = 1;

	for (struct node *node = *bucket_of(memory, fresh->low); node != NULL; node = next) {
		next = node->next;
		if (!is_of(node, fresh->low, fresh->high)) {
			continue;
		}
		if (count == STORE_RESULTS_MAX || same_dependencies(node, fresh)) {
			gone = detach_node(memory, node, gone);
		} else {
			count++;
		}
	}
	return gone;
}

/* Nodes are allocated before the lock is taken and freed after it, so that nobody waits for the allocator. */
void memory_put(struct memory *memory, uint64_t low, uint64_t high, struct entry *entry)
{
	uint64_t size = entry_info(entry)->total_size;
	uint64_t cost = size + sizeof(struct node) + OVERHEAD_BYTES;
	struct node **bucket;
	struct node *fresh;
	struct node *gone;

	if (size > memory->max_bytes / 4 || cost > memory->max_bytes) {
		return;
	}
	fresh = malloc(sizeof(*fresh));
	if (fresh == NULL) {
		return;
	}
	*fresh = (struct node){.low = low, .high = high, .entry = entry_ref(entry), .cost = cost};
	fork_mutex_lock(&memory->lock);
	gone = detach_replaced(memory, fresh);
	while (cost > memory->max_bytes - memory->bytes) {
		gone = detach_node(memory, memory->oldest, gone);
	}
	bucket = bucket_of(memory, low);
	fresh->next = *bucket;
	*bucket = fresh;
	link_newest(memory, fresh);
	memory->bytes += cost;
	fork_mutex_unlock(&memory->lock);
	free_nodes(gone);
}

/* If another thread was changing the table at the fork, the child begins with an empty one, and the nodes leak. */
void memory_fork_child(struct memory *memory)
{
	if (memory != NULL && !fork_mutex_fork_child(&memory->lock)) {
		memset(memory->buckets, 0, sizeof(memory->buckets));
		memory->newest = memory->oldest = NULL;
		memory->bytes = 0;
	}
}

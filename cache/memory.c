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
#include <sys/queue.h>

#define BUCKETS 8192 /* one for each 8 KiB of the default limit */
/* The overhead of a result: struct entry and the bookkeeping of malloc(). */
#define OVERHEAD_BYTES 96

struct node {
	uint64_t low, high;
	LIST_ENTRY(node) near; /* in the bucket; the results of one fingerprint are newest first */
	TAILQ_ENTRY(node) use; /* in the list of use, newest first */
	struct entry *entry;
	uint64_t cost;
};

struct memory {
	struct fork_mutex lock;
	uint64_t max_bytes;
	uint64_t bytes; /* cost of all linked nodes */
	TAILQ_HEAD(nodes, node) used;
	LIST_HEAD(bucket, node) buckets[BUCKETS]; /* in .bss: only pages that are used are touched */
};

struct memory *memory_open(uint64_t max_bytes)
{
	static struct memory memory = {.lock = FORK_MUTEX_INITIALIZER};

	TAILQ_INIT(&memory.used);
	memory.max_bytes = max_bytes;
	return &memory;
}

/* Frees nodes that are not linked any more. */
static void free_nodes(struct nodes *gone)
{
	struct node *node;

	while ((node = TAILQ_FIRST(gone)) != NULL) {
		TAILQ_REMOVE(gone, node, use);
		entry_unref(node->entry);
		free(node);
	}
}

/* The caller of the functions from here to detach_node() holds the lock. */

static struct bucket *bucket_of(struct memory *memory, uint64_t low)
{
	return &memory->buckets[low % BUCKETS];
}

static bool is_of(const struct node *node, uint64_t low, uint64_t high)
{
	return node->low == low && node->high == high;
}

/* Moves a node to `gone`, whose nodes are freed after the lock was released. */
static void detach_node(struct memory *memory, struct node *node, struct nodes *gone)
{
	LIST_REMOVE(node, near);
	TAILQ_REMOVE(&memory->used, node, use);
	TAILQ_INSERT_HEAD(gone, node, use);
	memory->bytes -= node->cost;
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
	struct node *node;
	size_t count = 0;

	if (memory == NULL || memory->max_bytes == 0) {
		return NULL;
	}
	fork_mutex_lock(&memory->lock);
	for (node = LIST_FIRST(bucket_of(memory, low)); node != NULL && count < STORE_RESULTS_MAX;
	     node = LIST_NEXT(node, near)) {
		if (!is_of(node, low, high)) {
			continue;
		}
		if (node != TAILQ_FIRST(&memory->used)) { /* which of them holds is found out without the lock */
			TAILQ_REMOVE(&memory->used, node, use);
			TAILQ_INSERT_HEAD(&memory->used, node, use);
		}
		candidates[count++] = entry_ref(node->entry);
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

/* Detaches the results of a fingerprint for which `fresh` has no room beside it. */
static void detach_replaced(struct memory *memory, const struct node *fresh, struct nodes *gone)
{
	struct node *next;
	size_t count = 1;

	for (struct node *node = LIST_FIRST(bucket_of(memory, fresh->low)); node != NULL; node = next) {
		next = LIST_NEXT(node, near);
		if (!is_of(node, fresh->low, fresh->high)) {
			continue;
		}
		if (count == STORE_RESULTS_MAX || same_dependencies(node, fresh)) {
			detach_node(memory, node, gone);
		} else {
			count++;
		}
	}
}

/* Nodes are allocated before the lock is taken and freed after it, so that nobody waits for the allocator. */
void memory_put(struct memory *memory, uint64_t low, uint64_t high, struct entry *entry)
{
	uint64_t size = entry_info(entry)->total_size;
	uint64_t cost = size + sizeof(struct node) + OVERHEAD_BYTES;
	struct nodes gone = TAILQ_HEAD_INITIALIZER(gone);
	struct node *fresh;

	if (memory == NULL || size > memory->max_bytes / 4 || cost > memory->max_bytes) {
		return;
	}
	fresh = malloc(sizeof(*fresh));
	if (fresh == NULL) {
		return;
	}
	*fresh = (struct node){.low = low, .high = high, .entry = entry_ref(entry), .cost = cost};
	fork_mutex_lock(&memory->lock);
	detach_replaced(memory, fresh, &gone);
	while (cost > memory->max_bytes - memory->bytes) {
		detach_node(memory, TAILQ_LAST(&memory->used, nodes), &gone);
	}
	LIST_INSERT_HEAD(bucket_of(memory, low), fresh, near);
	TAILQ_INSERT_HEAD(&memory->used, fresh, use);
	memory->bytes += cost;
	fork_mutex_unlock(&memory->lock);
	free_nodes(&gone);
}

/* If another thread was changing the table at the fork, the child begins with an empty one, and the nodes leak. */
void memory_fork_child(struct memory *memory)
{
	if (memory != NULL && !fork_mutex_fork_child(&memory->lock)) {
		memset(memory->buckets, 0, sizeof(memory->buckets));
		TAILQ_INIT(&memory->used);
		memory->bytes = 0;
	}
}

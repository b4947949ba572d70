/* SPDX-License-Identifier: MIT */
/*
 * memory: the in-process front of the store (docs/DESIGN.md C10, B18)
 *
 * Purpose: entries that this process has served or made, found by the 128-bit fingerprint of the request (a hash that
 * nobody outside can make collide: nothing else is compared), least recently used out first. Several results per
 * fingerprint (newest first, at most STORE_RESULTS_MAX): their dependencies are checked by the caller's function, as in
 * the store.
 *
 * Calling sequence: memory_open() with a size (0: every get misses, every put does nothing), memory_get(),
 * memory_put(). Threads: sharded locks, held for a few loads and stores and never while `check` runs or an entry is
 * freed. Fork: memory_fork_child() from an atfork handler; a shard that another thread was changing is empty there.
 * Signals: not async-signal-safe. Errors: a put that finds no memory simply does not keep. Ownership: memory
 * holds one reference per entry; get gives the caller one more.
 */
#ifndef CACHE_MEMORY_H
#define CACHE_MEMORY_H

#include "cache/entry.h"
#include "cache/store.h"

struct memory;

/* `same`: as in struct store_options. */
int memory_open(uint64_t max_bytes, store_same *same, struct memory **ret_memory);
void memory_close(struct memory *memory);

/*
 * The newest entry of that fingerprint whose dependencies hold (check == NULL or no dependencies: it holds), or NULL.
 */
struct entry *memory_get(struct memory *memory, uint64_t low, uint64_t high, store_check *check, void *context);
/*
 * Entries larger than a quarter of the limit are not cached in memory. An entry with the same dependencies is replaced.
 */
void memory_put(struct memory *memory, uint64_t low, uint64_t high, struct entry *entry);

void memory_fork_child(struct memory *memory);

#endif

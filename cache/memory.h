/* SPDX-License-Identifier: MIT */
/*
 * memory: the in-process front of the store (docs/DESIGN.md C10, B18)
 *
 * Purpose: entries that this process has served or made, found by the 128-bit fingerprint of the request. Fingerprints
 * are compared and nothing else: their hash is keyed, so that input from outside cannot make them collide. The least
 * recently used entry is evicted first; a hit uses all results of its fingerprint. A fingerprint may have several
 * results (newest first, at most STORE_RESULTS_MAX), whose dependencies are checked by the caller's function, as in the
 * store.
 *
 * Calling sequence: memory_open() with a size (0: every get misses, every put does nothing), memory_get(),
 * memory_put(). Threads: one lock, held for a few loads and stores and never while `check` runs or an entry is freed.
 * Fork: memory_fork_child() in the child, from an atfork handler; if another thread was changing the table, it is empty
 * there. Signals: not async-signal-safe. Errors: without memory, memory_put() does nothing. Ownership: memory holds one
 * reference per entry; memory_get() gives the caller another.
 */
#ifndef CACHE_MEMORY_H
#define CACHE_MEMORY_H

#include "cache/entry.h"
#include "cache/store.h"

struct memory;

/*
 * Returns the memory front of the process, which lives as long. `max_bytes` is the limit of all entries together, with
 * overhead.
 */
struct memory *memory_open(uint64_t max_bytes);

/*
 * Returns the newest entry of that fingerprint whose dependencies hold, or NULL. An entry without dependencies is
 * valid; without `check` every entry is.
 */
struct entry *memory_get(struct memory *memory, uint64_t low, uint64_t high, store_check *check, void *context);
/*
 * Adds an entry as the newest of its fingerprint, and evicts others if necessary. An entry with the same dependencies
 * is replaced. An entry larger than a quarter of the limit is not added.
 */
void memory_put(struct memory *memory, uint64_t low, uint64_t high, struct entry *entry);

void memory_fork_child(struct memory *memory); /* accepts NULL */

#endif

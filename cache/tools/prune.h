/* SPDX-License-Identifier: MIT */
/*
 * prune: removes the least recently used entries of the whole directory, exactly (docs/DESIGN.md C4)
 *
 *   scan each shard, under the usage index's lock --> all entries, with size and time of last use
 *   --> choose entries not used for the given time, then the least recently used until the rest is below the cap
 *   --> for each shard: mark as unknown --> examine each file again: ours and unchanged? remove it --> count the shard
 *   --> still above the cap, because files had changed? choose the next oldest
 *
 * Stores of other processes wait only for the lock of one key while its file is removed, and for the usage index while
 * one shard is counted. A process that is killed leaves shards unknown, and the next stores count them.
 * Errors: negative errno values. -EAGAIN: another process keeps the usage index locked. -EINTR: the chore was stopped,
 * and the report says what was done.
 */
#ifndef CACHE_TOOLS_PRUNE_H
#define CACHE_TOOLS_PRUNE_H

#include "cache/store.h"
#include "cache/tools/usage.h"

struct store_pruned {
	struct store_usage removed;
	struct store_usage left; /* its bytes include temporary files, its number of them is not set */
	uint64_t foreign;        /* files that are not ours and were not removed */
	uint64_t failures;       /* files that could not be removed */
};
/*
 * Removes stale temporary files, all entries that were not used for `unused_ns` nanoseconds (INT64_MAX: none), and then
 * the least recently used entries until the size is below max_size.
 */
int store_prune(struct store *store, int64_t unused_ns, struct store_pruned *ret_pruned);

#endif

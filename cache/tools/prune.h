/* SPDX-License-Identifier: MIT */
/*
 * prune: removes what was used longest ago from the whole directory, exactly, for people (docs/DESIGN.md C4)
 *
 *   scan of each shard, under the usage index's lock --> all entries, with size and time of last use
 *   --> those not used since `used_before`, then the oldest until the rest is below the cap (what is too large for the
 *       cap first) --> by shard, at once where the chore has threads:
 *           shard noted as unknown --> each file looked at again, ours, unchanged: removed --> noted anew
 *   --> still above the cap (files had changed, or stay)? the next oldest
 *
 * While a shard is worked on, stores of other processes wait for none of it but a key's lock, for one file; they take
 * the sum of that shard for a guess, or count it themselves. Whoever is killed in between leaves shards unknown, which
 * the next stores count.
 * Errors: negative errno values: -EAGAIN: another process keeps the usage index locked; -EINTR: the chore was stopped,
 * and the report says what was done.
 */
#ifndef CACHE_TOOLS_PRUNE_H
#define CACHE_TOOLS_PRUNE_H

#include "cache/store.h"
#include "cache/tools/usage.h"

struct store_pruned {
	struct store_usage removed; /* bytes: of foreign files too */
	struct store_usage left;    /* temporaries are not counted there, but their bytes are */
	uint64_t foreign;           /* files in shards that are none of ours, left alone */
	uint64_t failures;          /* files that could not be removed */
};
/* Removes stale temporaries, and what was used longest ago until the size is below max_size. A missing directory has
 * nothing to remove. -EAGAIN: another process keeps the lock. */
int store_prune(struct store *store, struct store_pruned *ret_pruned);
/* First what was not used for so many nanoseconds, then the same. -EINTR: the chore was stopped, and *ret_pruned says
 * what was done by then. */
int store_prune_unused(struct store *store, int64_t unused_ns, struct store_pruned *ret_pruned);

#endif

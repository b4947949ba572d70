/* SPDX-License-Identifier: MIT */
/*
 * prune: counts all entries, removes the least recently used ones of the whole directory, exactly, or all of them
 * (docs/DESIGN.md C4)
 *
 *   store_prune(): examine all files --> remove entries not used for the given time --> remove the least recently used
 *                  until the rest is below the cap
 *   store_clear(): for each shard: examine all files --> remove all entries
 *
 * An entry that another process has used or replaced since it was examined is not removed, and neither are files whose
 * first bytes are not ours. Temporary files are removed if they are stale (cache/upkeep/sample.h). No lock is taken.
 * The sums of all shards (cache/upkeep/sums.h) are right afterwards. A process that is killed leaves them too large,
 * until the next samples.
 * Errors: negative errno values. -EINTR: the chore was stopped, and the report says what was done. store_clear() and
 * store_usage() return the first error of a shard at the end; then store_usage() writes nothing.
 */
#ifndef CACHE_TOOLS_PRUNE_H
#define CACHE_TOOLS_PRUNE_H

#include "cache/store.h"

struct store_usage {
	uint64_t entries; /* number of entry files */
	uint64_t bytes;   /* allocated for entries, requests, facts and temporary files */
	uint64_t temporaries;
};

/* Counts all files. A missing directory counts as empty. */
int store_usage(struct store *store, struct store_usage *ret_usage);
/*
 * The same as stores have noted it (cache/upkeep/sums.h), if they have sampled all shards, without examining files:
 * large shards are estimated, and files that were removed by hand or stored by a process that was killed are noticed
 * when their shard is sampled again. `temporaries` is 0.
 */
int store_usage_about(struct store *store, struct store_usage *ret_usage);

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
/* Says what store_prune() would remove, and changes nothing. */
int store_prune_dry(struct store *store, int64_t unused_ns, struct store_pruned *ret_pruned);
/* Removes the entries of the keys that are wanted. */
typedef bool store_wanted(void *context, const uint8_t key[ENTRY_KEY_BYTES]);
int store_clear_wanted(struct store *store, store_wanted *wanted, void *context, struct store_pruned *ret_pruned);
/* Removes stale temporary files and all entries. The counters stay, because they count past events. */
int store_clear(struct store *store, struct store_pruned *ret_pruned);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * prune: counts all entries, removes the least recently used ones of the whole directory, exactly, or all of them
 * (docs/DESIGN.md C4)
 *
 *   store_remove(): examine all files --> remove entries not used for the given time, or all that are wanted -->
 *                   remove the least recently used until the rest is below the cap
 *
 * An entry that another process has used or replaced since it was examined is not removed, and neither are files whose
 * first bytes are not ours. Temporary files are removed if they are stale (cache/upkeep/sample.h). No lock is taken.
 * The sums of all shards (cache/upkeep/sums.h) are right afterwards. What others have stored in a shard while its files
 * were removed is not in its sum until its next sample, and neither is what a process had removed that was killed. It
 * needs 56 bytes of memory per entry.
 * Errors: negative errno values. -EINTR: `progress` stopped it, and the report says what was done. An error of a shard
 * is returned at the end; for store_usage(), which then writes nothing, a shard that is not trusted has no entries.
 */
#ifndef CACHE_TOOLS_PRUNE_H
#define CACHE_TOOLS_PRUNE_H

#include "cache/store.h"

struct store_usage {
	uint64_t entries; /* number of entry files */
	uint64_t bytes;   /* allocated for entries, requests, facts and temporary files */
};

/* Counts all files. A missing directory counts as empty. */
int store_usage(const struct store *store, struct store_usage *ret_usage);
/*
 * The same as stores have noted it (cache/upkeep/sums.h), if they have sampled all shards, without examining files:
 * large shards are estimated, and files that were removed by hand or stored by a process that was killed are noticed
 * when their shard is sampled again.
 */
int store_usage_about(const struct store *store, struct store_usage *ret_usage);

struct store_pruned {
	struct store_usage removed, left;
	uint64_t failures; /* files that could not be removed */
};
typedef bool store_wanted(void *context, const uint8_t key[ENTRY_KEY_BYTES]);

/* What goes besides stale temporary files. */
struct store_removal {
	bool dry; /* nothing: the report says what would go */
	bool all; /* all entries, or those whose keys are `wanted`; the counters stay: they count past events */
	int64_t unused_ns; /* not `all`: entries not used for so long (INT64_MAX: none), and what exceeds max_size */
	store_wanted *wanted;
	void *context; /* of `wanted` */
};
int store_remove(const struct store *store, const struct store_removal *removal, struct store_pruned *ret_pruned);

#endif

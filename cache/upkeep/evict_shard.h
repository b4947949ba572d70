/* SPDX-License-Identifier: MIT */
/*
 * evict_shard: scans one shard: counts its files and removes stale temporary files (see cache/upkeep/evict.h)
 *
 * Entries are added to the index, and to `list` unless it is NULL. Temporary files are counted, or removed if stale.
 * Files that are not ours are only counted in the report. Times of use from a wrong clock are corrected.
 *
 * Calling sequence: under the usage index's lock, with a loaded index. Errors: none. A missing shard is empty. The sums
 * of a shard that cannot be read do not change. Files that cannot be removed are counted in the report. If there is no
 * memory for the list, its `failed` is set. Ownership: the caller frees the list's records with free().
 */
#ifndef CACHE_UPKEEP_EVICT_SHARD_H
#define CACHE_UPKEEP_EVICT_SHARD_H

#include "cache/upkeep/evict.h"
#include "cache/upkeep/usage_index.h"

struct evict_list {
	struct usage_index_record *records;
	size_t count;
	size_t room;
	bool failed; /* true: records are missing */
};

/* Scans `shard` and updates its sums and records in `index`. `list` may be NULL. */
void evict_scan_shard(const struct evict *evict, struct usage_index *index, unsigned shard, struct evict_report *report,
                      struct evict_list *list);

#endif

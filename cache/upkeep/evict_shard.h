/* SPDX-License-Identifier: MIT */
/*
 * evict_shard: counts one shard anew and removes stale temporary files (see cache/upkeep/evict.h)
 *
 * Entries go into the index, and into a list if one is given. Temporary files are counted, or removed if stale. Files
 * that are not ours are left alone. Times from a wrong clock are corrected.
 *
 * Calling sequence: under the usage index's lock, with a loaded index. Errors: none. A missing shard is empty; one that
 * cannot be read keeps its sums; files that cannot be removed are counted in the report; `failed` is set in a list
 * that finds no memory. Ownership: the list's records are the caller's to free().
 */
#ifndef CACHE_UPKEEP_EVICT_SHARD_H
#define CACHE_UPKEEP_EVICT_SHARD_H

#include "cache/upkeep/evict.h"
#include "cache/upkeep/usage_index.h"

struct evict_list {
	struct usage_index_record *records;
	size_t count;
	size_t room;
	bool failed;
};

void evict_scan_shard(const struct evict *evict, struct usage_index *index, unsigned shard, struct evict_report *report,
                      struct evict_list *list);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * evict_shard: one shard counted anew, and rid of what was left there (see cache/upkeep/evict.h)
 *
 * Purpose: every file of the shard is asked for its size and times. Entries go into the index, and into a list where
 * one is given; temporaries are counted, or removed if their time has come; what is none of ours is left alone. A time
 * from a wrong clock is set right.
 *
 * Calling sequence: under the usage index's lock, on a loaded one. Errors: none. A shard that is missing is empty;
 * one that cannot be read keeps what is known of it; files that cannot be removed are counted in the report; a list
 * that finds no memory says so. Ownership: the list's records are the caller's to free().
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

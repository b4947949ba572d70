/* SPDX-License-Identifier: MIT */
/*
 * usage: the size of the cache directory (for the command)
 *
 * Calling sequence: any order, on a trusted directory. A missing directory counts as empty.
 * Errors: negative errno values; the first error is returned, and ret_* is then not written. -EINTR: the chore was
 * stopped.
 */
#ifndef CACHE_TOOLS_USAGE_H
#define CACHE_TOOLS_USAGE_H

#include "cache/directory.h"
#include "cache/store.h"

struct store_usage {
	uint64_t entries; /* number of entry files */
	uint64_t bytes;   /* allocated for entries and temporary files */
	uint64_t temporaries;
};

/* Returns the number and size of entries and temporary files. Calls fstatat() for every file, so it is exact. */
int store_usage(struct store *store, struct store_usage *ret_usage);
/*
 * Returns the same numbers as stores have noted them (cache/upkeep/sums.h), without examining files. Shards that no
 * store has sampled are counted. The numbers are approximate: large shards are estimated, and files that were removed
 * by hand or stored by a process that was killed are noticed when their shard is sampled again. `temporaries` is 0.
 */
int store_usage_about(struct store *store, struct store_usage *ret_usage);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * usage: counts the files of the cache directory, and removes all of them (for the command)
 *
 * Calling sequence: any order, on a trusted directory. A missing directory counts as empty.
 * Errors: negative errno values; the first error is returned. After an error, store_clear() has removed all files that
 * it could, and *ret_removed is valid. The other functions write ret_* only on success. -EINTR: the chore was stopped.
 */
#ifndef CACHE_TOOLS_USAGE_H
#define CACHE_TOOLS_USAGE_H

#include "cache/directory.h"
#include "cache/store.h"

struct store_usage {
	uint64_t entries; /* number of entry files */
	uint64_t bytes;   /* of entries and temporary files */
	uint64_t temporaries;
	uint64_t foreign; /* files with a name of ours and other first bytes; counted by store_clear() only */
};

/* Returns the number and total size of entries and temporary files. Calls fstatat() for every file, so it is exact. */
int store_usage(struct store *store, struct store_usage *ret_usage);
/*
 * Returns the same numbers from the usage index (cache/upkeep/usage_index.h), without examining files. `temporaries` is
 * not known (0). Shards that are unknown to the index are counted. The numbers are approximate: the index does not know
 * of files that were removed by hand or stored by a process that was killed, until their shard is scanned.
 */
int store_usage_noted(struct store *store, struct store_usage *ret_usage);
/*
 * Removes every entry and temporary file whose first bytes are ours, and the usage index, but not the counters. A file
 * that another process removes meanwhile is not an error.
 */
int store_clear(struct store *store, struct store_usage *ret_removed);
/* Returns the number of entries according to the usage index, or 0 if it is not known. */
uint64_t usage_guess(const struct directory *directory);

#endif

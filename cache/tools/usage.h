/* SPDX-License-Identifier: MIT */
/*
 * usage: the size of the directory, and removing everything in it; for the command
 *
 * Calling sequence: any, on a trusted directory or a missing one, which is empty. cache/store.h explains the numbers.
 * Errors: negative errno values, the first that was met. store_clear() then has removed what it could, and reports it.
 * -EINTR: the chore was stopped. Otherwise ret_* are written on success only.
 */
#ifndef CACHE_TOOLS_USAGE_H
#define CACHE_TOOLS_USAGE_H

#include "cache/directory.h"
#include "cache/store.h"

struct store_usage {
	uint64_t entries; /* files */
	uint64_t results; /* not filled by store_usage(), which opens no entry: always 0 there */
	uint64_t bytes;
	uint64_t temporaries;
	uint64_t foreign; /* of such names, and none of ours: only store_clear() looks */
};

/* Sum of sizes (with temporaries) and number of files, zeros where there is no directory yet; asks every file. */
int store_usage(struct store *store, struct store_usage *ret_usage);
/*
 * The same as the usage index has it (cache/upkeep/usage_index.h), without looking at any file, temporaries unknown
 * (0); shards that it does not know are walked. Nearly right: a process that was killed, or files removed by hand, show
 * later.
 */
int store_usage_noted(struct store *store, struct store_usage *ret_usage);
/* Removes every entry and temporary (not the counters) that its first bytes say is one. Files that vanish meanwhile are
 * fine. An error: what could be removed is, and *ret_removed tells of it. */
int store_clear(struct store *store, struct store_usage *ret_removed);
/* How many entries there seem to be, by the usage index; 0: nobody knows. */
uint64_t usage_guess(const struct directory *directory);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * usage: how much lies in the directory, and removing all of it; for the command, not for hosts
 *
 * Calling sequence: any, on a directory that is trusted or missing (then there is nothing). See cache/store.h for what
 * the numbers mean.
 * Errors: negative errno values, the first that was met; usage_clear() has then removed what it could, and says what.
 * -EINTR: the chore was stopped. Else ret_* are filled in for 0 alone. `chore` may be NULL.
 */
#ifndef CACHE_USAGE_H
#define CACHE_USAGE_H

#include "cache/chore.h"
#include "cache/directory.h"

struct store_usage {
	uint64_t entries; /* files */
	uint64_t results; /* not filled by store_usage(), which opens no entry: always 0 there */
	uint64_t bytes;
	uint64_t temporaries;
	uint64_t foreign; /* of such names, and none of ours: only store_clear() looks */
};

/* Asks every file for its size. */
int usage_count(const struct directory *directory, struct chore *chore, struct store_usage *ret_usage);
/* Asks the usage index, and the files of shards that it does not know. */
int usage_noted(const struct directory *directory, struct store_usage *ret_usage);
/* How many entries there seem to be, by the usage index; 0: nobody knows. */
uint64_t usage_guess(const struct directory *directory);
int usage_clear(const struct directory *directory, struct chore *chore, struct store_usage *ret_removed);

#endif

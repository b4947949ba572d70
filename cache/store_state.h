/* SPDX-License-Identifier: MIT */
/* store_state: the fields of a store, for the files that implement it */
#ifndef CACHE_STORE_STATE_H
#define CACHE_STORE_STATE_H

#include "cache/directory.h"
#include "cache/source.h"
#include "cache/store.h"
#include "cache/temporary.h"
#include "cache/upkeep/evict.h"

#include <stdatomic.h>

struct store {
	struct directory directory;
	uint64_t max_size;
	bool read_only;
	bool fsync;
	bool keeps_root;
	store_clock *clock;
	struct chore *chore;
	_Atomic uint64_t evictions; /* not yet returned by store_take_evictions() */
};

/* A file of a shard that is to be read: `path` is relative to `at`. */
struct store_place {
	int at;
	int root, home, shard; /* -1: not open */
	char path[sizeof(DIRECTORY_HOME "/ab/") + DIRECTORY_REQUEST_BYTES];
	char *name; /* in the shard: the end of `path` */
};

/*
 * Finds the place of a key's file. The caller calls store_leave() whatever this returns. -EIO: ESTALE of a network file
 * system; for callers of the store -ESTALE means that no result holds.
 */
int store_reach(const struct store *store, const uint8_t key[ENTRY_KEY_BYTES], struct store_place *ret_place);
void store_leave(const struct store_place *place);

/* temporary_begin() of a file with the mode and group of an entry. */
int store_begin_file(const struct store *store, int shard, struct temporary *ret_temporary);
/* Opens the home for a file of `size` bytes that is to be stored. The caller closes it. */
int store_open_home(const struct store *store, uint64_t size, int *ret_home);
/* The last step of a store: evicts what the new file makes excess, and counts that. */
void store_evict_after(struct store *store, const struct evict *stored);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * store_state: what the parts of store share
 */
#ifndef CACHE_STORE_STATE_H
#define CACHE_STORE_STATE_H

#include "cache/directory.h"
#include "cache/source.h"
#include "cache/store.h"

#include <stdatomic.h>

struct store {
	struct directory directory;
	uint64_t max_size;
	bool read_only;
	bool fsync;
	store_clock *clock;
	store_same *same;
	struct chore *chore;
	_Atomic uint64_t evictions; /* not yet taken */
};

#define STORE_LOCK_WAIT_US 200000 /* for a key's lock */

/* No file is larger than this. */
uint64_t store_size_limit(const struct store *store);

/* As store_get(), in a file that is open. */
int store_find_result(struct source *source, const uint8_t key[ENTRY_KEY_BYTES], store_check *check, void *context,
                      struct entry **ret_entry);

/* What a name stands for after it was published, and how much it stood for before. */
struct published {
	int64_t used; /* a recency_stamp() that the file gets; 0: it is marked as used now, and `now` is filled in */
	int64_t now;
	uint64_t size;
	uint64_t replaced;
};

/* In the shard, under that name, before the results that are there. Who has the key's lock calls it. */
int store_publish(const struct store *store, int shard, const char *name, const struct entry *entry,
                  struct published *published);

#endif

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
	store_clock *clock;
	struct chore *chore;
	_Atomic uint64_t evictions; /* not yet returned by store_take_evictions() */
};

/* temporary_begin() of a file with the mode and group of an entry. */
int store_begin_file(const struct store *store, int shard, struct temporary *ret_temporary);
/* Counts what was evicted. Returns true if something was. */
bool store_note_evictions(struct store *store, const struct sample_removed *removed);

#endif

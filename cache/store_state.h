/* SPDX-License-Identifier: MIT */
/* store_state: the fields of a store, for the files that implement it */
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
	_Atomic uint64_t evictions; /* not yet returned by store_take_evictions() */
};

#endif

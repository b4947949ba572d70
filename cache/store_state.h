/* SPDX-License-Identifier: MIT */
/* store_state: the fields of a store, for the files that implement it */
#ifndef CACHE_STORE_STATE_H
#define CACHE_STORE_STATE_H

#include "cache/directory.h"
#include "cache/store.h"

#include <stdatomic.h>

struct store {
	struct store_options options; /* `clock` is set */
	struct directory directory;
	_Atomic uint64_t evictions; /* not yet returned by store_take_evictions() */
};

#endif

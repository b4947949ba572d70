/* SPDX-License-Identifier: MIT */
/*
 * settled: what the engine is known to have of this directory, so that it is not asked again and again
 *
 * Of each key: a sum of the results that the engine had when it was looked at last (agent/wire/parcel.h), and when the directory's file
 * was written that was looked at. Forgotten when the agent ends, and when there is no memory or SETTLED_MOST are known:
 * then the engine is asked once more. Keys are told apart by half of their bytes.
 *
 * Threads: any number. Errors: none. Ownership: settled_free().
 */
#ifndef AGENT_NODE_SETTLED_H
#define AGENT_NODE_SETTLED_H

#include "cache/entry.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#define SETTLED_MOST      ((size_t)1 << 20)
#define SETTLED_KEY_BYTES 16

struct settled_place {
	uint8_t key[SETTLED_KEY_BYTES];
	uint64_t sum;
	int64_t written_ns; /* 0: not known */
	bool taken;
};

struct settled {
	pthread_mutex_t lock;
	struct settled_place *places;
	size_t room; /* a power of two */
	size_t count;
};

void settled_begin(struct settled *settled);
void settled_free(struct settled *settled);
void settled_note(struct settled *settled, const uint8_t key[ENTRY_KEY_BYTES], uint64_t sum, int64_t written_ns);
/* Has the engine just these results? */
bool settled_holds(struct settled *settled, const uint8_t key[ENTRY_KEY_BYTES], uint64_t sum);
/* Was the file that was written then looked at? */
bool settled_seen(struct settled *settled, const uint8_t key[ENTRY_KEY_BYTES], int64_t written_ns);

#endif

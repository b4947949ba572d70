/* SPDX-License-Identifier: MIT */
/*
 * store_run: many results put into a store by a command, as fast as the file system allows
 *
 * Purpose: store_put() opens the whole way to a key's file for each result, because hosts close descriptors that they do
 * not know, and counts each by itself. A command knows its descriptors: each of its threads has a hand, which keeps the
 * home's, those of the shards that it has been in and one on the lock, and what all hands have put is counted together,
 * STORE_RUN_PENDING at a time. Everything else is as for store_put(): the lock of the key, the old results behind the
 * new one, one rename, what is trusted.
 *
 * The time of use is the caller's: who gives every result a later one (store_run_stamp()) has them in that order, in
 * whichever order they are put. Results of one key are put in their order by one hand.
 *
 * Size: the cap is kept whenever they are counted, which is also done when they are 1/64 of it: by so much, and one
 * result for each hand, it can be passed until then. A command that is killed leaves what was not counted to the scans
 * (cache/upkeep/evict.h).
 *
 * Calling sequence: store_run_begin(); for each thread store_hand_begin(), store_hand_put(), store_hand_end();
 * store_run_end(), which counts the rest. Errors: as of store_put(). A hand whose shard was removed, or that finds no
 * descriptors left, lets go of all of its own and tries once more.
 * Threads: a hand belongs to one; hands of one run to as many as one likes. Ownership: the run's until its end.
 */
#ifndef CACHE_TOOLS_STORE_RUN_H
#define CACHE_TOOLS_STORE_RUN_H

#include "cache/store.h"

#define STORE_RUN_PENDING 256

/* Is the result that is there, whose dependencies ask for the same, the very one that comes? */
typedef bool store_alike(const struct entry *there, const struct entry *comes);

struct store_run;
struct store_hand;

enum store_put_outcome { STORE_PUT_DONE, STORE_PUT_KNOWN };

/* -EROFS: read-only by setting; -ENXIO: no directory. Nothing is touched yet. */
int store_run_begin(struct store *store, store_alike *alike, struct store_run **ret_run);
void store_run_end(struct store_run *run);

/* A time of use later than all that were given before. Threads: one. */
int64_t store_run_stamp(struct store_run *run);

int store_hand_begin(struct store_run *run, struct store_hand **ret_hand);
int store_hand_put(struct store_hand *hand, const struct entry *entry, int64_t used,
                   enum store_put_outcome *ret_outcome);
void store_hand_end(struct store_hand *hand);

#endif

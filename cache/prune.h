/* SPDX-License-Identifier: MIT */
/*
 * prune: removes what was used longest ago from the whole directory, exactly, for people (docs/DESIGN.md C4)
 *
 *   scan of each shard, under the usage index's lock --> all entries, with size and time of last use
 *   --> those not used since `used_before`, then the oldest until the rest is below the cap (what is too large for the
 *       cap first) --> by shard, at once where the chore has threads:
 *           shard noted as unknown --> each file looked at again, ours, unchanged: removed --> noted anew
 *   --> still above the cap (files had changed, or stay)? the next oldest
 *
 * While a shard is worked on, stores of other processes wait for none of it but a key's lock, for one file; they take
 * the sum of that shard for a guess, or count it themselves. Whoever is killed in between leaves shards unknown, which
 * the next stores count.
 * Errors: negative errno values: -EAGAIN: another process keeps the usage index locked; -EINTR: the chore was stopped,
 * and the report says what was done.
 */
#ifndef CACHE_PRUNE_H
#define CACHE_PRUNE_H

#include "cache/chore.h"
#include "cache/evict.h"

/* INT64_MIN: however long ago an entry was used. `chore` may be NULL. */
int prune(const struct evict *evict, int64_t used_before, struct chore *chore, struct evict_report *ret_report);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * evict: keeps the cache below its size cap by removing some of the least recently used entries (docs/DESIGN.md C4)
 *
 * Purpose: evict_entries() is the last step of a store. It samples the shard of the new file
 * (cache/upkeep/sample.h), which corrects that shard's sum (cache/upkeep/sums.h). If the total of the sums exceeds the
 * cap, it evicts. EVICT_FOR_ROOM: it evicts, because the file system has no room left, whatever the total is.
 * cache/tools/prune.h does this for the `prune` command: exactly, and for the whole directory.
 *
 * How entries are chosen without an index of them: about 64 entries are drawn, of the new file's shard if that many are
 * in it, otherwise also of up to 15 other shards. The first in the order of sample_sort() are removed, at most
 * EVICT_REMOVALS. The new entry is never removed. A store that wrote more bytes than that frees repeats this, up to
 * EVICT_ROUNDS times. An eviction aims at a 64th below the cap, so that not every store has to evict.
 *
 * The cache may exceed the cap for a while: after the cap was lowered, or while shards have no sum because the file was
 * lost. Each store samples up to 15 shards without a sum.
 *
 * Concurrency: one process evicts at a time, under the lock LOCK_EVICTION. Another one that stores meanwhile does not
 * evict; more than a tenth above the cap, or without room on the file system, it first waits for the lock, at most for
 * 0.2 seconds.
 *
 * Errors: none are returned, because the store itself has succeeded. Files that cannot be removed (EACCES, EROFS) are
 * skipped. A process that is killed here leaves only whole files, and sums that the next samples correct.
 */
#ifndef CACHE_UPKEEP_EVICT_H
#define CACHE_UPKEEP_EVICT_H

#include "cache/upkeep/sample.h"

#define EVICT_REMOVALS 8
#define EVICT_ROUNDS   16

/* The task has a key. Returns what was removed. */
enum evict_reason { EVICT_AFTER_STORE, EVICT_FOR_ROOM };
struct sample_removed evict_entries(const struct sample_task *task, enum evict_reason reason);

#endif

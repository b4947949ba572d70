/* SPDX-License-Identifier: MIT */
/*
 * evict: keeps the cache below its size cap; least recently used goes first (docs/DESIGN.md C4)
 *
 * Purpose: evict_put() is the store's last step: it counts the new file, and where the sum is past the cap removes what
 * was used longest ago. cache/tools/prune.h does the same for people, exactly and for the whole directory.
 *
 * How the right one is found without an index of everything: the usage index (cache/upkeep/usage_index.h) holds the 512
 * entries that were used longest ago among all that were seen. Stores add what they write, scans add what they find. A
 * scan reads one shard and asks each of its files for its times; it is done once for every 16 stores past the cap and
 * 16 files in the shard, or 8 below it, never more than two of them for one store. So a small cache (a file in every
 * shard or so) lies in the usage index as a whole, and the order is exact; in a large one each scan samples 1/256 of
 * everything, and what goes is among the oldest sixteenth. Least recently used within each shard would be simpler, but
 * with one file per shard it says nothing: whatever is there is the oldest.
 *
 * A record is a hint: before a removal the file is looked at again, under the lock of its key. If it was used or
 * replaced since (other time or size), it gets its new place in the order and the next one is looked at, EVICT_CHECKS
 * times at most; then the oldest of those goes. One that was used since it was written, and that less than an hour ago,
 * is spared once and marked (cache/recency.h).
 *
 * What counts: every entry in a shard, and temporaries too, by their names. Stale ones (older than an hour; or older
 * than a minute where no process of that id is there: a writer on another host needs milliseconds) are removed by the
 * scan of their shard. Nothing is removed but what its first bytes say is ours (or that is empty): whatever else lies
 * there somebody has put there, and it counts no more once that is seen. Entries of another format are found by no hit
 * and age like any other. Larger than an eighth of the cap (it was lowered) goes
 * first. Other v<N> directories are left alone.
 *
 * At once: a store that counts or removes has the lock LOCK_USAGE_INDEX, so two that find the cache too full remove
 * what is too much once. (cache/tools/prune.h removes without it: what it works on counts as unknown meanwhile.) It is waited for at most 200 ms; who does not get it leaves the work to the next store
 * (-EAGAIN). Without locks (the file system has none) sums drift and are set right by scans; while shards are unknown
 * (the usage index was lost) a store removes at most twice what it brought.
 *
 * Cost of a store that must evict, in system calls: 9 for the usage index, 4 for each removal, 1 to 2 for each file
 * that was looked at in vain, and now and then a scan.
 *
 * Errors: negative errno values, of interest to the log only: the store itself has succeeded. What cannot be removed
 * (EACCES, EROFS) is passed over; EVICT_FAILURES of those end the attempt.
 * A process that is killed anywhere in here leaves a cache whose files are whole, and a usage index that is right,
 * damaged and made anew, or short of one file until its shard is scanned: by so much can the cap be passed.
 */
#ifndef CACHE_UPKEEP_EVICT_H
#define CACHE_UPKEEP_EVICT_H

#include "cache/directory.h"

#define EVICT_CHECKS   32
#define EVICT_FAILURES 4

struct evict {
	const struct directory *directory;
	int home;
	uint64_t max_size; /* 0: no cap */
	int64_t now;       /* recency_now() */
};

/* What was removed, and what is left. */
struct evict_report {
	uint64_t entries;
	uint64_t bytes; /* of entries and temporaries */
	uint64_t temporaries;
	uint64_t foreign;      /* what is none of ours, and was left alone */
	uint64_t left_entries; /* only a prune says what is left */
	uint64_t left_bytes;
	uint64_t failures; /* files that could not be removed */
};

/* After the file of `key` came to be `size` bytes in the place of `replaced` (0: there was none). */
int evict_put(const struct evict *evict, const uint8_t key[ENTRY_KEY_BYTES], uint64_t size, uint64_t replaced,
              struct evict_report *ret_report);

/*
 * The same for several that are there by now (cache/tools/store_run.h), with one reading and writing of the usage index. What
 * was used longest ago goes, be it one of them.
 */
struct evict_put {
	uint8_t key[ENTRY_KEY_BYTES];
	uint64_t size, replaced;
	int64_t used; /* recency_of() its file */
};
int evict_put_all(const struct evict *evict, const struct evict_put *puts, size_t count,
                  struct evict_report *ret_report);

#endif

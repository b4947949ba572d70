/* SPDX-License-Identifier: MIT */
/*
 * evict: keeps the cache below its size cap by removing the least recently used entries (docs/DESIGN.md C4)
 *
 * Purpose: evict_put() is the last step of a store: it counts the new file and, if the sum exceeds the cap, removes the
 * least recently used entries. cache/tools/prune.h does the same for people, exactly and for the whole directory.
 *
 * How entries are chosen without an index of everything: the usage index (cache/upkeep/usage_index.h) holds the 512
 * least recently used entries among all that were seen. Stores add what they write, scans add what they find. A scan
 * reads one shard and the times of its files. Above the cap one is due for every 16 stores and 16 files of the shard,
 * below it for every 8; one store makes at most two. A small cache (about a file per shard) fits into the index as a
 * whole, and the order is exact. In a large one each scan samples 1/256 of all entries, and the removed ones are among
 * the oldest sixteenth. Least recently used within each shard would be simpler, but with one file per shard the only
 * file is always the oldest.
 *
 * A record is a hint. Before a removal the file is looked at again, under its key's lock. If its time or size differs,
 * it gets its new place in the order and the next one is looked at, EVICT_CHECKS times at most; then the oldest of
 * those goes. An entry that was used since it was written, less than an hour ago, is spared once and marked
 * (cache/recency.h). The newest entry is not removed to make room for itself, even if it is short-lived and so the
 * first in the order.
 *
 * Every file in a shard counts, temporary ones too. Stale temporary files (older than an hour; or older than a minute
 * if their process does not exist: a writer on another host needs milliseconds) are removed by the scan of their shard.
 * A file is removed only if its first bytes are ours, or it is empty; other files count no more once that is seen.
 * Entries of another format age like any other. Entries larger than an eighth of the cap, because it was lowered, go
 * first. Other v<N> directories are left alone.
 *
 * Concurrency: a store counts and removes under the lock LOCK_USAGE_INDEX, so two of them do not both remove the
 * excess. It is waited for at most 200 ms; after that the next store does the work (-EAGAIN). Without file locks, sums
 * drift and scans correct them. While shards are unknown, because the index was lost, a store removes at most twice
 * what it brought.
 *
 * Cost of a store that evicts, in system calls: 9 for the usage index, 4 for each removal, 1 or 2 for each file that
 * was kept, and now and then a scan.
 *
 * Errors: negative errno values, for the log only: the store itself has succeeded. Files that cannot be removed
 * (EACCES, EROFS) are passed over; after EVICT_FAILURES of them the attempt ends. A process that is killed here leaves
 * whole files, and a usage index that is right, damaged (it is then made anew), or short of one file until its shard is
 * scanned.
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

/* A file that was stored. */
struct evict_file {
	const uint8_t *key;
	uint64_t size;
	uint64_t replaced; /* bytes of the file in whose place it is; 0: there was none */
	int64_t rank;      /* recency_rank() */
};

int evict_put(const struct evict *evict, const struct evict_file *file, struct evict_report *ret_report);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * evict: keeps the cache below its size cap by removing the least recently used entries (docs/DESIGN.md C4)
 *
 * Purpose: evict_put() is the last step of a store: it counts the new file and, if the sum exceeds the cap, removes the
 * least recently used entries. cache/tools/prune.h does this for the `prune` command: exactly, and for the whole
 * directory.
 *
 * How entries are chosen without an index of all entries: the usage index (cache/upkeep/usage_index.h) holds the 512
 * least recently used entries among those that were seen. Stores add the files that they write, and scans add the files
 * that they find. A scan reads one shard and the times of its files. Above the cap, a scan is due after one store for
 * each 16 files of the next shard; below the cap, after 8 stores and one more for each 8 files. One store makes at most
 * two scans. A small cache (about one file per shard) fits into the index, and its order is exact. In a large cache
 * each scan samples 1/256 of all entries, and the removed entries are among the oldest sixteenth. Removing the least
 * recently used file of one shard would be simpler, but if a shard has one file, that file is always its oldest.
 *
 * A record is a hint. Before a removal the file is examined again, under its key's lock. If its time or size has
 * changed, its record is corrected and the next oldest record is tried. After EVICT_CHECKS attempts in a row without a
 * removal, the oldest of the files that were examined is removed. An entry that was used within the last hour, since it
 * was written or last marked, is spared once and marked (cache/recency.h). The newest entry is not removed to make room
 * for itself, even if it is short-lived and therefore the first in the order.
 *
 * Entries and temporary files count. The scan of a shard removes its stale temporary files: those older than an hour,
 * or older than a minute if their process does not exist. (A process on another host is not visible here, but its
 * writes take milliseconds.) A file is removed only if its first bytes are ours or it is empty. Other files with the
 * name of an entry count only until that is known. Entries of another format age like any other. Entries larger than
 * an eighth of the cap, which were stored before the cap was lowered, are removed first. Other v<N> directories are
 * ignored.
 *
 * Concurrency: a store counts and removes under the lock LOCK_USAGE_INDEX, so that two stores do not both remove the
 * excess. It waits at most 200 ms for the lock; after that it returns -EAGAIN, and the next store does the work.
 * Without file locks, concurrent updates make the sums inexact, and scans correct them. While shards are unknown,
 * because the index was lost, a store removes at most about twice the bytes that it stored.
 *
 * Cost of a store that evicts, in system calls: 9 for the usage index, 4 for each removal, 1 or 2 for each file that
 * was examined and not removed, and sometimes a scan.
 *
 * Errors: negative errno values, for the log only, because the store itself has succeeded. Files that cannot be removed
 * (EACCES, EROFS) are skipped; after EVICT_FAILURES of them the attempt ends. A process that is killed here leaves only
 * whole files. It leaves a usage index that is right, that is damaged and will be rebuilt, or that lacks one file until
 * the file's shard is scanned.
 */
#ifndef CACHE_UPKEEP_EVICT_H
#define CACHE_UPKEEP_EVICT_H

#include "cache/directory.h"
#include "cache/upkeep/usage_index.h"

#define EVICT_CHECKS   32
#define EVICT_FAILURES 4

struct evict {
	const struct directory *directory;
	int home;
	uint64_t max_size; /* 0: no cap */
	int64_t now;       /* recency_now() */
};

/* The files that were removed. */
struct evict_report {
	uint64_t entries;
	uint64_t bytes; /* of entries and temporaries */
	uint64_t temporaries;
	uint64_t foreign;  /* files that are not ours and were not removed */
	uint64_t failures; /* files that could not be removed */
};

/* The file that a store has written. */
struct evict_file {
	const uint8_t *key;
	uint64_t size;
	uint64_t replaced; /* size of the file that it replaced; 0: none */
	int64_t rank;      /* recency_rank() */
};

/* Counts a file that was stored, and evicts. Waits at most 200 ms for the usage index (-EAGAIN). */
int evict_put(const struct evict *evict, const struct evict_file *file, struct evict_report *ret_report);

struct evict_list {
	struct usage_index_record *records;
	size_t count;
	size_t room;
	bool failed; /* there was no memory: records are missing */
};

/*
 * Scans one shard under the usage index's lock: updates its sums and records in the loaded `index`, adds its entries to
 * `list` unless that is NULL, and removes stale temporary files. Files that are not ours, and those that cannot be
 * removed, are counted in the report. Times of use from a wrong clock are corrected. A missing shard is empty. The sums
 * of a shard that cannot be read do not change. The caller frees the list's records with free().
 */
void evict_scan_shard(const struct evict *evict, struct usage_index *index, unsigned shard, struct evict_report *report,
                      struct evict_list *list);

#endif

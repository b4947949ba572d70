/* SPDX-License-Identifier: MIT */
/*
 * usage_index: the size of the cache and its least recently used entries, without a scan (docs/DESIGN.md C4)
 *
 * Purpose: one small file, <directory>/v1/usage-index (at most 29 KB, whatever the size of the cache), which a store
 * reads and writes in one piece: bytes and files of each of the 256 shards, and up to USAGE_INDEX_RECORDS entries with
 * the time of their last use, the least recently used among all that were seen. It is a hint: a scan of a shard counts
 * its bytes anew, and a record is compared with its file before anything is removed. Losing the index costs a few
 * scans.
 *
 *     missing, damaged, another format --> new: shards without a directory are known to be empty, the others unknown
 *     unknown --scan of the shard--> known --stores and removals--> nearly right --scan--> right
 *
 * Invariant: the records of a known shard are entries that its bytes and files count. So a record whose file has gone
 * is subtracted once.
 *
 * Calling sequence: usage_index_begin(), any of the others, usage_index_end(); or, if no other process can interfere,
 * usage_index_load(), any of the others, usage_index_save(), usage_index_free(). Without the lock (on file systems that
 * have none) an update may be lost; a torn file fails its checksum and counts as missing. If the file can neither be
 * written nor made, usage_index_load() gives a new index, and usage_index_save() fails.
 * Errors: negative errno values; after a failed usage_index_load() nothing is to be freed. -EFBIG: the process may not
 * write that much. -EBADF: there is no file. The descriptor stays open until usage_index_free().
 */
#ifndef CACHE_UPKEEP_USAGE_INDEX_H
#define CACHE_UPKEEP_USAGE_INDEX_H

#include "cache/directory.h"

#define USAGE_INDEX_RECORDS 512

struct usage_index_shard {
	uint64_t bytes; /* of all files: entries, temporaries, foreign ones */
	uint32_t files; /* entries */
	uint32_t known;
};

struct usage_index_record {
	uint8_t key[ENTRY_KEY_BYTES];
	int64_t used; /* recency_rank() (cache/recency.h) */
	uint64_t size;
};

struct usage_index {
	/* in the file, in the machine's byte order: another's fails its checksum */
	struct usage_index_page {
		char magic[8];
		uint64_t checksum; /* XXH3 of all that follows, records up to count */
		uint32_t format;
		uint32_t count;
		uint32_t cursor; /* the shard to be scanned next */
		uint32_t stores; /* since the last scan */
		struct usage_index_shard shards[DIRECTORY_SHARDS];
		struct usage_index_record records[USAGE_INDEX_RECORDS];
	} page;
	/* not in the file */
	int file;   /* -1: none */
	int newest; /* number of the record used last; -1: not known */
};

int usage_index_load(const struct directory *directory, int home, struct usage_index **ret_index);
int usage_index_save(struct usage_index *index);
void usage_index_free(struct usage_index *index);
/* Under the lock LOCK_USAGE_INDEX (cache/lock.h), for which it polls for about `wait_us`. -EAGAIN: another has it. */
int usage_index_begin(const struct directory *directory, int home, unsigned wait_us, int *ret_lock,
                      struct usage_index **ret_index);
/* Saves it, frees it and lets go of the lock; gives what usage_index_save() gave. */
int usage_index_end(int lock, struct usage_index *index);
/* For people, without the lock and without a change: as it is written. -ENOENT, -EBADMSG: there is none. */
int usage_index_peek(const struct directory *directory, int home, struct usage_index **ret_index);
/* Every process begins anew. */
void usage_index_remove(const struct directory *directory, int home);

/* Bytes of all shards; unknown ones (how many: *ret_unknown) are taken to be like those that are known and not empty.
 */
uint64_t usage_index_total(const struct usage_index *index, unsigned *ret_unknown);

/* An entry of `size` bytes came into its shard, in the place of `replaced` bytes (0: of nothing). */
void usage_index_put(struct usage_index *index, const uint8_t key[ENTRY_KEY_BYTES], uint64_t size, uint64_t replaced,
                     int64_t used);
/* An entry left: its record too. */
void usage_index_subtract(struct usage_index *index, const uint8_t key[ENTRY_KEY_BYTES], uint64_t size);

/* A scan's: the shard is counted from nothing, its records forgotten. */
void usage_index_begin_shard(struct usage_index *index, unsigned shard);
/* One more entry of it. */
void usage_index_count(struct usage_index *index, const uint8_t key[ENTRY_KEY_BYTES], uint64_t size, int64_t used);
/* One more file that is no entry. */
void usage_index_count_other(struct usage_index *index, unsigned shard, uint64_t size);

/* Number of the record; -1: none. */
int usage_index_find(const struct usage_index *index, const uint8_t key[ENTRY_KEY_BYTES]);
/* The one to go first: larger than `size_max`, else used longest ago. -1: no record. */
int usage_index_oldest(const struct usage_index *index, uint64_t size_max);
void usage_index_set_used(struct usage_index *index, const uint8_t key[ENTRY_KEY_BYTES], int64_t used);
void usage_index_forget(struct usage_index *index, const uint8_t key[ENTRY_KEY_BYTES]);

#endif

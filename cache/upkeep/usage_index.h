/* SPDX-License-Identifier: MIT */
/*
 * usage_index: the size of the cache and its least recently used entries, without a scan (docs/DESIGN.md C4)
 *
 * Purpose: a store reads and writes one small file, <directory>/v1/usage-index, as a whole. It has at most 29 KB,
 * whatever the size of the cache. It contains the bytes and files of each of the 256 shards, and the time of last use
 * of up to USAGE_INDEX_RECORDS entries: the least recently used among those that were seen. The index is a hint: a scan
 * counts a shard again, and a record is compared with its file before the file is removed. Losing the index costs a few
 * scans.
 *
 *     missing, damaged, another format --> new: shards without a directory are known to be empty, the others unknown
 *     unknown --scan of the shard--> known --stores and removals--> nearly right --scan--> right
 *
 * Invariant: every record of a known shard is also counted in the bytes and files of that shard. A record whose file no
 * longer exists can therefore be subtracted, once.
 *
 * Calling sequence: usage_index_begin(), any of the others, usage_index_end(); or, if no other process can interfere,
 * usage_index_load(), any of the others, usage_index_save(), usage_index_free(). On file systems without locks an
 * update may be lost. A torn file fails its checksum and counts as missing. If the file can neither be opened nor
 * created, usage_index_load() returns a new index, and usage_index_save() fails.
 * Errors: negative errno values; after a failed usage_index_load() there is nothing to free. -EFBIG: the process may
 * not write that much (RLIMIT_FSIZE). -EBADF: there is no file. The descriptor stays open until usage_index_free().
 */
#ifndef CACHE_UPKEEP_USAGE_INDEX_H
#define CACHE_UPKEEP_USAGE_INDEX_H

#include "cache/directory.h"

#define USAGE_INDEX_RECORDS 512

struct usage_index_shard {
	uint64_t bytes; /* of entries and temporary files */
	uint32_t files; /* number of entries */
	uint32_t known; /* 0: the shard has to be scanned */
};

struct usage_index_record {
	uint8_t key[ENTRY_KEY_BYTES];
	int64_t used; /* recency_rank() (cache/recency.h) */
	uint64_t size;
};

struct usage_index {
	/* in the file, in the machine's byte order: a file in the other byte order fails its checksum */
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
	int file;   /* descriptor; -1: none */
	int newest; /* number of the record with the latest use; -1: not known */
};

/* Reads the index, or makes a new one in memory. The caller frees it with usage_index_free(). */
int usage_index_load(const struct directory *directory, int home, struct usage_index **ret_index);
int usage_index_save(struct usage_index *index);
void usage_index_free(struct usage_index *index);
/*
 * Acquires the lock LOCK_USAGE_INDEX (cache/lock.h), waiting about `wait_us` microseconds for it, and loads the index.
 * -EAGAIN: another process holds the lock.
 */
int usage_index_begin(const struct directory *directory, int home, unsigned wait_us, int *ret_lock,
                      struct usage_index **ret_index);
/* Saves and frees the index, and releases the lock. Returns the result of usage_index_save(). */
int usage_index_end(int lock, struct usage_index *index);
/* Reads the index without the lock, for statistics. Changes no file. -ENOENT: no index. -EBADMSG: a damaged one. */
int usage_index_peek(const struct directory *directory, int home, struct usage_index **ret_index);
/* Removes the file. The next store makes a new index. */
void usage_index_remove(const struct directory *directory, int home);

/*
 * Returns the bytes of all shards. *ret_unknown is the number of unknown shards, each of which counts as the average of
 * the shards that are known and not empty.
 */
uint64_t usage_index_total(const struct usage_index *index, unsigned *ret_unknown);

/* Adds an entry of `size` bytes that was stored. It replaced a file of `replaced` bytes (0: none). */
void usage_index_put(struct usage_index *index, const uint8_t key[ENTRY_KEY_BYTES], uint64_t size, uint64_t replaced,
                     int64_t used);
/* Subtracts an entry that was removed, and deletes its record. */
void usage_index_subtract(struct usage_index *index, const uint8_t key[ENTRY_KEY_BYTES], uint64_t size);

/* Begins the scan of a shard: sets its sums to zero, marks it as known and deletes its records. */
void usage_index_begin_shard(struct usage_index *index, unsigned shard);
/* Adds an entry that a scan has found. */
void usage_index_count(struct usage_index *index, const uint8_t key[ENTRY_KEY_BYTES], uint64_t size, int64_t used);
/* Adds the size of a file that is not an entry. */
void usage_index_count_other(struct usage_index *index, unsigned shard, uint64_t size);

/* Returns the number of the key's record, or -1 if there is none. */
int usage_index_find(const struct usage_index *index, const uint8_t key[ENTRY_KEY_BYTES]);
/*
 * Returns the number of the record to evict first: one larger than `size_max`, otherwise the least recently used. -1:
 * there is no record.
 */
int usage_index_oldest(const struct usage_index *index, uint64_t size_max);
/* Sets the time of use in the key's record, if there is one. */
void usage_index_set_used(struct usage_index *index, const uint8_t key[ENTRY_KEY_BYTES], int64_t used);
/* Deletes the key's record. The sums of its shard do not change. */
void usage_index_forget(struct usage_index *index, const uint8_t key[ENTRY_KEY_BYTES]);

#endif

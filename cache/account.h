/* SPDX-License-Identifier: MIT */
/*
 * account: how full the cache is, and what in it was used longest ago, without looking (docs/DESIGN.md C4)
 *
 * Purpose: one small file, <directory>/v1/account (at most 29 KB, whatever the size of the cache), that a store reads
 * and writes in one piece: bytes and files of each of the 256 shards, and up to ACCOUNT_RECORDS entries with the time
 * of their last use, those longest ago among all that were seen. It is a hint and never believed: bytes are counted
 * anew whenever a shard is scanned, and a record is compared with its file before anything is removed. Losing it costs
 * a few scans.
 *
 *     missing, damaged, another format --> fresh: shards without a directory are known to be empty, the others unknown
 *     unknown --a scan of the shard--> known --stores and removals--> nearly right --a scan--> right
 *
 * Invariant: the records of a known shard are entries that its bytes and files count, so that a record whose file has
 * gone is subtracted, once.
 *
 * Calling sequence: take the lock LOCK_ACCOUNT; account_load(), any of the others, account_save(),
 * account_free(); let go of the lock. Without the lock (file systems that have none) an update may be lost; a torn file
 * fails its checksum and counts as missing.
 * Where the file can be neither written nor made, account_load() gives a fresh account, and account_save() fails.
 * Errors: negative errno values; nothing is to be freed where account_load() failed. -EFBIG: the process may not write
 * that much. -EBADF: there is no file.
 * Threads, fork, signals: no state between calls; no descriptor stays open after account_free(). EINTR is retried.
 */
#ifndef CACHE_ACCOUNT_H
#define CACHE_ACCOUNT_H

#include "cache/directory.h"

#define ACCOUNT_RECORDS 512

struct account_shard {
	uint64_t bytes; /* of all files: entries, temporaries, foreign ones */
	uint32_t files; /* entries */
	uint32_t known;
};

struct account_record {
	uint8_t key[ENTRY_KEY_BYTES];
	int64_t used;
	uint64_t size;
};

struct account {
	/* in the file, in the machine's byte order: another's fails its checksum */
	struct account_page {
		char magic[8];
		uint64_t checksum; /* XXH3 of all that follows, records up to count */
		uint32_t format;
		uint32_t count;
		uint32_t cursor; /* the shard to be scanned next */
		uint32_t stores; /* since the last scan */
		struct account_shard shards[DIRECTORY_SHARDS];
		struct account_record records[ACCOUNT_RECORDS];
	} page;
	/* not in the file */
	int file;   /* -1: none */
	int newest; /* index of the record used last; -1: not known */
};

int account_load(const struct directory *directory, int home, struct account **ret_account);
int account_save(struct account *account);
void account_free(struct account *account);
/* For people, without the lock and without a change: as it is written. -ENOENT, -EBADMSG: there is none. */
int account_peek(const struct directory *directory, int home, struct account **ret_account);
/* Every process begins anew. */
void account_remove(const struct directory *directory, int home);

/* Bytes of all shards; unknown ones (how many: *ret_unknown) are taken to be like those that are known and not empty.
 */
uint64_t account_total(const struct account *account, unsigned *ret_unknown);

/* An entry of `size` bytes came into its shard, in the place of `replaced` bytes (0: of nothing). */
void account_put(struct account *account, const uint8_t key[ENTRY_KEY_BYTES], uint64_t size, uint64_t replaced,
                 int64_t used);
/* An entry left: its record too. */
void account_subtract(struct account *account, const uint8_t key[ENTRY_KEY_BYTES], uint64_t size);

/* A scan's: the shard is counted from nothing, its records forgotten. */
void account_begin_shard(struct account *account, unsigned shard);
/* One more entry of it. */
void account_count(struct account *account, const uint8_t key[ENTRY_KEY_BYTES], uint64_t size, int64_t used);
/* One more file that is no entry. */
void account_count_other(struct account *account, unsigned shard, uint64_t size);

/* Index of the record; -1: none. */
int account_find(const struct account *account, const uint8_t key[ENTRY_KEY_BYTES]);
/* The one to go first: larger than `size_max`, else used longest ago. -1: no record. */
int account_oldest(const struct account *account, uint64_t size_max);
void account_set_used(struct account *account, const uint8_t key[ENTRY_KEY_BYTES], int64_t used);
void account_forget(struct account *account, const uint8_t key[ENTRY_KEY_BYTES]);

#endif

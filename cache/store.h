/* SPDX-License-Identifier: MIT */
/*
 * store: results in files, found by key (docs/DESIGN.md C1-C7)
 *
 * Layout: <directory>/v1/ab/<62 hex>: 256 shards by the key's first byte. A file holds the results of one key, newest
 * first, at most STORE_RESULTS_MAX. It is written under a unique temporary name in its shard ("tmp.<pid>.<random>"),
 * then renamed: readers never see a part. No fsync unless asked; a torn file fails its checksum and is a miss.
 * <directory>/v1/lock: those who put to one key take turns by a byte of it that the key chooses (for at most 200 ms). A
 * lock that is held across a call of store_put() must be in another file.
 *
 * Calling sequence: store_open() once (touches nothing on disk), store_get(), store_put(), store_close().
 *
 * Reading: the root, v1 and the shard are opened one after the other with O_PATH|O_DIRECTORY|O_NOFOLLOW, and each must
 * belong to us or root and be writable by nobody else (unless `shared`); then openat(O_NOFOLLOW) of the entry, fstat
 * (regular file, trusted owner and mode, size), read into memory of ours, close. Never mmap. No descriptor is kept
 * between calls, because hosts close descriptors that they do not know.
 *
 * Damage of any kind (short, long, flipped bit, other key, other format, other owner) is a miss; a damaged file is
 * removed if it is still the file that was read (same device, inode, size, mtime) and nobody is putting to that key,
 * and the next put overwrites it. So is what is no regular file. Results that lie ahead of the damage are still found,
 * and a put keeps the sound ones.
 *
 * Size: after each put the sum of all files is brought below max_size (cache/upkeep/evict.h); least recently used goes
 * first. A hit shows that it used the file at most once an hour (cache/recency.h), and never in a read-only store.
 *
 * Errors: negative errno values; the caller treats all of them as a miss or as "not stored". -ENOENT is the plain miss.
 * -EPERM: the root or entry is not trusted. -EROFS: read-only by setting. -EFBIG: larger than max_size / 8 where there
 * is a cap, or than the process may write (RLIMIT_FSIZE). -ENXIO: no directory configured. -ENOTDIR: the directory's
 * path is a symbolic link (its parents may be) or no directory. -EINVAL: the directory is not absolute.
 * Threads: any number at once on one store. Fork: no state that a child could inherit wrongly (temporary names carry
 * the present pid). Signals: EINTR is retried. errno is not preserved. umask does not matter (modes are set).
 * Ownership: the entries given out carry one reference for the caller.
 */
#ifndef CACHE_STORE_H
#define CACHE_STORE_H

#include "cache/entry.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STORE_RESULTS_MAX 16

struct store;
struct chore;

/* Nanoseconds of CLOCK_REALTIME, for times of use; tests have their own. */
typedef int64_t store_clock(void);

/* Do two dependencies ask for the same? Their bytes may differ in stamps. */
typedef bool store_same(const void *one, size_t one_size, const void *other, size_t other_size);

struct store_options {
	const char *directory; /* absolute; copied; NULL: every call returns -ENXIO */
	uint64_t max_size;     /* 0: no cap */
	bool read_only;
	bool shared;
	bool fsync;
	store_clock *clock;  /* NULL: the system's */
	store_same *same;    /* NULL: equal bytes */
	struct chore *chore; /* for the functions of cache/tools/; NULL: nobody watches */
};

/* Do these dependencies hold now? Called without a lock, with bytes whose checksum is right. */
typedef bool store_check(void *context, const void *dependencies, size_t size);

int store_open(const struct store_options *options, struct store **ret_store);
void store_close(struct store *store);

/*
 * Gives the newest result of `key` whose dependencies hold. -ENOENT: no file. -ESTALE: no result holds. -EBADMSG:
 * damaged (and removed). Opens one file. Without `check`, or without dependencies, a result holds.
 */
int store_get(struct store *store, const uint8_t key[ENTRY_KEY_BYTES], store_check *check, void *context,
              struct entry **ret_entry);

/*
 * Stores a result in front of the other results of its key. A result with the same dependencies is replaced; results
 * beyond STORE_RESULTS_MAX, or beyond max_size / 8 in sum, are dropped. Two processes that store at the same time lose
 * one of their results only on a file system without locks.
 */
int store_put(struct store *store, const struct entry *entry);
/*
 * Replaces `entry` by `anew`, which is `entry` with other dependencies (entry_amend()), if the file still has those
 * bytes. -EAGAIN: it has not, or another process is storing under that key.
 */
int store_amend(struct store *store, const struct entry *entry, const struct entry *anew);
/* Returns how many entries store_put() has evicted since the last call of this function. */
uint64_t store_take_evictions(struct store *store);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * store: results in files, found by key (docs/DESIGN.md C1-C7)
 *
 * Layout: <directory>/v1/ab/<62 hex>: 256 shards by the key's first byte. A file holds the results of one key, newest
 * first, at most STORE_RESULTS_MAX. It is written under a unique temporary name in its shard ("tmp.<pid>.<number>"),
 * then renamed, so that readers never see a partial file. It is synced only if `fsync` is set; a torn file fails its
 * checksum and is a miss.
 * <directory>/v1/lock: store_put() locks one byte of this file, which the key selects, and waits at most 200 ms for it.
 * A lock that is held across a call of store_put() must be in another file.
 *
 * Sources: cache/store.c opens, reads and discards; cache/store_put.c has what writes, store_put() and
 * store_put_beside().
 *
 * Calling sequence: the caller fills in a struct store, whose directory must stay valid; store_get(), store_put().
 *
 * Reading: the root is opened with O_PATH|O_DIRECTORY|O_NOFOLLOW. v1 and the shard are opened in the same way if
 * `shared` is set; otherwise they are examined with fstatat() from the root. Each must be owned by this user or root
 * and be writable by no other user (cache/trust.h has the rules for `shared`). Then the file is opened with O_NOFOLLOW,
 * checked by fstat() (regular file, trusted owner and mode, size), read into allocated memory and closed. Files are
 * never mapped. No descriptor stays open between calls (but for `keeps_root`), because hosts close those that they do
 * not know.
 *
 * Damage of any kind (short, long, flipped bit, other key, other format, other owner) is a miss. The damaged file is
 * removed if it is still the file that was read (same device, inode, size, mtime) and no process is storing under that
 * key; otherwise the next store_put() replaces it. The same holds for anything that is not a regular file. Results
 * before the damage are still found, and store_put() copies the sound ones.
 *
 * Size: store_put() evicts if the files take more than max_size, and if the file system or a quota has no room
 * (cache/upkeep/evict.h), and counts the entries that were evicted. A hit updates a file's time of use at most once an
 * hour, or at once if the file is marked (cache/recency.h), and never in a read-only store.
 *
 * Errors: negative errno values; the caller treats all of them as a miss or as "not stored". -ENOENT: no file has this
 * key. -EPERM: the root, a directory or the file is not trusted. -EROFS: `read_only` is set. -EFBIG: the entry is
 * larger than entry_size_limit(), or than the process may write (RLIMIT_FSIZE). -ENXIO: no directory is configured.
 * -ENOTDIR: the directory's path is a symbolic link (its parents may be links) or not a directory.
 * Threads: any number at once on one store. Fork: a store has no state that is wrong in a child (temporary names
 * contain the current process id). Signals: EINTR is retried. errno is not preserved. The umask has no effect (modes
 * are set explicitly).
 * Ownership: each returned entry carries one reference, which the caller must release.
 */
#ifndef CACHE_STORE_H
#define CACHE_STORE_H

#include "cache/directory.h"
#include "cache/entry.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns the current time for times of use, in nanoseconds of CLOCK_REALTIME; tests supply their own clock. */
typedef int64_t store_clock(void);
/*
 * Called by the functions of cache/tools/ at each step of long work: `done` of about `whole` files (0: not known).
 * Returns true if the work should stop, which does not undo the steps that are done.
 */
typedef bool store_progress(const char *doing, uint64_t done, uint64_t whole);

struct store {
	struct directory directory; /* path NULL: reads and writes return -ENXIO */
	uint64_t max_size;          /* 0: no cap */
	bool read_only;
	bool fsync;
	bool keeps_root;          /* after a hit, for the record: directory_keep_root() */
	store_clock *clock;       /* NULL: recency_now() */
	store_progress *progress; /* NULL: not reported */
};

/* Returns whether the dependencies hold now. Called without a lock, after the checksum of the bytes was verified. */
typedef bool store_check(void *context, const void *dependencies, size_t size);

/* Returns the time of the store's clock. */
int64_t store_now(const struct store *store);

/*
 * Returns the newest result of `key` whose dependencies hold. -ENOENT: the key has no file, or one that is larger than
 * entry_size_limit(), which stays. -ESTALE: the dependencies of no result hold. -EBADMSG: the file was damaged, and has
 * been removed if possible. A result is valid if `check` is NULL or if it has no dependencies. Opens one file.
 */
int store_get(const struct store *store, const uint8_t key[ENTRY_KEY_BYTES], store_check *check, void *context,
              struct entry **ret_entry);

/*
 * Stores a result before the other results of its key. A result with the same dependencies is replaced. The oldest
 * results are dropped beyond STORE_RESULTS_MAX, or beyond entry_size_limit() in sum. If two processes store under one
 * key at the same time, one result is lost only if the file system has no locks, or if the lock is held for more than
 * 200 ms.
 */
int store_put(const struct store *store, const struct entry *entry);
/*
 * Removes `name`, the file of `key`, from `shard` after it was found damaged or not trusted. `seen` is the stat of the
 * file that was read. A directory of that name is removed if it is empty. -EAGAIN: the file has changed since, or
 * another process holds the key's lock to replace it; the file stays.
 */
int store_discard(const struct directory *directory, int home, int shard, const uint8_t key[ENTRY_KEY_BYTES],
                  const char *name, const struct stat *seen);
/*
 * Files in the shards that are no entries: a recorded request stands beside the file of its key; facts
 * (keygen/facts.h) have a name of their own. They have the mode and group of an entry. They are read and written
 * without a lock; of two processes that write one, one is the last. store_has() takes ENTRY or BESIDE,
 * store_put_beside() BESIDE or FACTS.
 */
bool store_has(const struct store *store, const uint8_t key[ENTRY_KEY_BYTES], enum directory_kind kind);
int store_put_beside(const struct store *store, const uint8_t key[ENTRY_KEY_BYTES], enum directory_kind kind,
                     const void *bytes, size_t size);
/*
 * Returns how many bytes were read, at most `room`, or a negative errno value. Updates the time of use as a hit does.
 */
int store_get_facts(const struct store *store, const uint8_t key[ENTRY_KEY_BYTES], void *bytes, size_t room);

#endif

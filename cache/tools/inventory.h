/* SPDX-License-Identifier: MIT */
/*
 * inventory: all keys of a cache directory in order of use, and the results of one key, for `ls`, `export` and the
 * agent
 *
 * Entries are read with the checks of the store (cache/source.h), but reading leaves no trace: no lock is taken,
 * nothing is written or removed, and the time of last use stays (O_NOATIME, which a file's owner may use).
 *
 * Order: least recently used first, equal times by key. Storing the results in this order in another cache gives them
 * the same order of use there; if that cache is too small for all, the most recently used ones stay.
 *
 * Calling sequence: inventory_take() or inventory_find(), inventory_read() for each record, inventory_free().
 * Errors: negative errno values. inventory_take(): a shard that cannot be read is left out and counted; -EINTR: the
 * chore was stopped. It needs 96 bytes of memory per key. inventory_read(): -ENOENT: removed since; -EPERM: not
 * trusted; -EBADMSG: damaged, but every sound result was visited.
 * Threads: any. Ownership: the records are the inventory's.
 */
#ifndef CACHE_TOOLS_INVENTORY_H
#define CACHE_TOOLS_INVENTORY_H

#include "cache/directory.h"
#include "cache/entry.h"
#include "cache/tools/chore.h"

struct inventory_record {
	uint8_t key[ENTRY_KEY_BYTES];
	int64_t used;
	uint64_t size; /* of its file */
};

struct inventory {
	struct inventory_record *records;
	size_t count;
	unsigned failures; /* shards that could not be read */
};

/* A directory that is missing has no records. */
int inventory_take(const struct directory *directory, struct chore *chore, struct inventory *ret_inventory);
/* Only keys that begin with these hexadecimal digits; two of them or more: one shard is walked, not all. */
struct inventory_beginning {
	uint8_t bytes[ENTRY_KEY_BYTES]; /* two digits in each, the first in the high half; zeros behind the last */
	unsigned digits;                /* 0 to 64 */
};
int inventory_find(const struct directory *directory, const struct inventory_beginning *beginning,
                   struct inventory *ret_inventory);
void inventory_free(struct inventory *inventory);

/* Called for each sound result of the key, the oldest first. A negative return ends it and is given back. */
typedef int inventory_visit(void *context, const struct entry *entry);
int inventory_read(const struct directory *directory, const uint8_t key[ENTRY_KEY_BYTES], inventory_visit *visit,
                   void *context);

#endif

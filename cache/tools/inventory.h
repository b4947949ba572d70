/* SPDX-License-Identifier: MIT */
/*
 * inventory: lists all keys of a cache directory in order of use, and the results of one key; adds results of another
 * machine (docs/DESIGN.md C9)
 *
 * Entries are read with the checks of the store (cache/source.h), but reading changes nothing: no lock is taken,
 * nothing is written or removed, and the time of last use does not change (O_NOATIME, which only the owner of a file
 * may use).
 *
 * Order: least recently used first; equal times are ordered by key. If the results are stored in this order in another
 * cache, they have the same order of use there; if that cache is too small, the most recently used ones remain.
 *
 * Calling sequence: inventory_take(), inventory_read() for each record, inventory_free().
 * Errors: negative errno values. inventory_take(): a shard that cannot be read is left out and counted in `failures`;
 * -EINTR: `progress` stopped it. It needs 96 bytes of memory per key. inventory_read(): -ENOENT: the file was removed
 * since; -EPERM: not trusted; -EBADMSG: damaged, but every sound result was visited.
 * Threads: any. Ownership: the records belong to the inventory, and inventory_free() frees them.
 */
#ifndef CACHE_TOOLS_INVENTORY_H
#define CACHE_TOOLS_INVENTORY_H

#include "cache/source.h"
#include "cache/store.h"

struct inventory_record {
	uint8_t key[ENTRY_KEY_BYTES];
	int64_t used;  /* the entry; without one, when the request was written */
	uint64_t size; /* of the entry's file, or of the request's without one */
};

struct inventory {
	struct inventory_record *records;
	size_t count;
	unsigned failures; /* shards that could not be read */
};

/*
 * Lists the keys that have a file of that kind, an entry or a request, and that begin with these hexadecimal digits
 * ("": all). A missing directory has no records. `progress` may be NULL.
 */
int inventory_take(const struct directory *directory, enum directory_kind kind, const char *digits,
                   store_progress *progress, struct inventory *ret_inventory);
/* Returns whether the key begins with these digits, of either case. */
bool key_begins(const uint8_t key[ENTRY_KEY_BYTES], const char *digits);
void inventory_free(struct inventory *inventory);

/* Calls source_each() with the file of the key. */
int inventory_read(const struct directory *directory, const uint8_t key[ENTRY_KEY_BYTES], source_visit *visit,
                   void *context);

/*
 * Stores an entry of another machine; the caller calls events_tell_counts() afterwards. Returns 1 if the same entry is
 * there already, else 0 or the error of the store.
 */
int inventory_add(const struct store *store, const struct entry *entry);

#endif

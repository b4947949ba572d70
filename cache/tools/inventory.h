/* SPDX-License-Identifier: MIT */
/*
 * inventory: what a cache directory holds, in the order of use, and the results of one key read for another place
 *
 * Purpose: for people (`nvrtccache export`), not for hosts: it walks the whole directory. Reading is that of the store,
 * with the same checks (cache/source.h), but leaves no trace: no lock is taken, nothing is written or removed, and the
 * time of last use stays (O_NOATIME, where the system lets us; the file's owner may).
 *
 * Order: used longest ago first, equal times by key. Whoever stores them in this order in another cache gives them the
 * same order of use there, and where that is too small for all, what was used last stays.
 *
 * Calling sequence: inventory_take() or inventory_find(), inventory_read() for each record, inventory_free(). Who reads
 * many: inventory_reader_begin(), inventory_reader_read() for each, inventory_reader_end(); a reader keeps descriptors
 * of the home and of the shards, as many as the process may well have.
 * Errors: negative errno values. inventory_take(): a shard that cannot be read is passed over and counted; -EINTR: the
 * chore was stopped. 48 bytes of memory per key, twice that for a moment. inventory_read(): -ENOENT: gone since; -EPERM:
 * not trusted; -EBADMSG: damaged; what lies ahead of the damage, and behind it where it can be found, is given all the
 * same.
 * Threads: any number may read with one reader. Ownership: the records are the inventory's.
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

struct inventory_reader {
	const struct directory *directory;
	int home;
	int error;      /* of opening it */
	int shards_max; /* so many are kept */
	_Atomic int kept;
	_Atomic int shards[DIRECTORY_SHARDS]; /* descriptors; -1: not open */
};

void inventory_reader_begin(const struct directory *directory, struct inventory_reader *ret_reader);
int inventory_reader_read(struct inventory_reader *reader, const uint8_t key[ENTRY_KEY_BYTES], inventory_visit *visit,
                          void *context);
void inventory_reader_end(struct inventory_reader *reader);

#endif

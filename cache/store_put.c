/* SPDX-License-Identifier: MIT */
/*
 * Storing a result in the file of its key:
 *
 *   lock the key --> temporary file: the new result, then each sound old one with other dependencies --> rename
 *   --> unlock --> above the cap: evict the least recently used entries
 *   no room on the disk --> evict --> once again from the beginning
 */
#include "cache/store_state.h"

#include "cache/lock.h"
#include "cache/recency.h"
#include "cache/source.h"
#include "cache/temporary.h"
#include "cache/trust.h"
#include "cache/upkeep/evict.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ROOM_TRIES 3

static bool same_dependencies(const struct entry *a, const struct entry *b)
{
	size_t a_size;
	size_t b_size;
	const void *a_bytes = entry_dependencies(a, &a_size);
	const void *b_bytes = entry_dependencies(b, &b_size);

	return a_size == b_size && memcmp(a_bytes, b_bytes, a_size) == 0;
}

/*
 * Copies the old results of the key behind the new one. Old results that cannot be read or that exceed the size limit
 * are dropped. Only a failure to write the temporary file is an error.
 */
static int append_old(const struct store *store, int shard, const char *name, const struct entry *entry,
                      struct temporary *temporary, struct stat *ret_replaced)
{
	const uint8_t *key = entry_info(entry)->key;
	const uint64_t limit = entry_size_limit(store->max_size);
	const uint64_t room = limit < temporary->limit ? limit : temporary->limit;
	struct source source = {.file = -1};
	struct entry_info info;
	unsigned count = 1;
	uint64_t offset;
	int rc = 0;

	rc = source_open(&store->directory, shard, name, ret_replaced, &source);
	if (rc < 0) {
		return 0;
	}
	for (offset = 0; offset < source.size && count < STORE_RESULTS_MAX && rc == 0; offset += info.total_size) {
		struct entry *old;

		if (source_header(&source, offset, key, &info) < 0 || info.total_size > room - temporary->written) {
			break;
		}
		if (source_take(&source, offset, &info, NULL, &old) < 0) {
			continue;
		}
		if (!same_dependencies(old, entry)) {
			size_t size;
			const void *bytes = entry_bytes(old, &size);

			rc = temporary_append(temporary, bytes, size);
			count++;
		}
		entry_unref(old);
	}
	source_close(&source);
	return rc;
}

/*
 * A file is marked as short-lived only if it is new or was so marked before. Otherwise the older results in it, which
 * were used, would be evicted first together with the new one.
 */
static enum recency_mark choose_mark(const struct entry *entry, const struct stat *replaced)
{
	bool is_new = !S_ISREG(replaced->st_mode) || recency_mark_of(replaced) == RECENCY_SHORT_LIVED;

	return entry_short_lived(entry) && is_new ? RECENCY_SHORT_LIVED : RECENCY_MARKED;
}

int store_begin_file(const struct store *store, int shard, struct temporary *ret_temporary)
{
	int rc = temporary_begin(shard, trust_first_mode(store->directory.shared, shard, 0666), ret_temporary);

	if (rc == 0 && store->directory.shared) {
		rc = trust_settle_file(store->directory.shared, shard, ret_temporary->file);
		if (rc < 0) {
			temporary_discard(ret_temporary);
		}
	}
	return rc;
}

/* Writes the entry to the file `name`, before the results that are already there. The caller holds the key's lock. */
static int publish_entry(const struct store *store, int shard, const char *name, const struct entry *entry,
                         struct evict *ret_stored)
{
	struct temporary temporary;
	struct stat replaced = {0};
	size_t size;
	const void *bytes = entry_bytes(entry, &size);
	int rc = store_begin_file(store, shard, &temporary);

	if (rc < 0) {
		return rc;
	}
	rc = temporary_append(&temporary, bytes, size);
	if (rc == 0) {
		rc = append_old(store, shard, name, entry, &temporary, &replaced);
	}
	if (rc == 0) {
		/* read after the last write: that sets the mtime, and the later of mtime and atime counts */
		ret_stored->now = store->clock();
		ret_stored->bytes = temporary.written;
		recency_mark_file(temporary.file, ret_stored->now, choose_mark(entry, &replaced));
		rc = temporary_publish(&temporary, name, store->fsync ? DURABILITY_SYNC : DURABILITY_NONE);
	}
	if (rc < 0) {
		temporary_discard(&temporary);
	}
	return rc;
}

/* Waits at most LOCK_WAIT_US for the key's lock: losing a result of another process is better than a longer wait. */
static int put_in_home(const struct store *store, int home, const struct entry *entry, struct evict *ret_stored)
{
	const uint8_t *key = entry_info(entry)->key;
	char name[DIRECTORY_NAME_BYTES];
	int shard = -1;
	int lock = -1;
	int rc = directory_open_shard(&store->directory, home, key[0], DIRECTORY_MAKE, &shard);

	if (rc < 0) {
		return rc;
	}
	directory_entry_name(key, name);
	if (lock_take_key(&store->directory, home, key, LOCK_WAIT_US, &lock) < 0) {
		lock = -1;
	}
	rc = publish_entry(store, shard, name, entry, ret_stored);
	lock_release(lock);
	close(shard);
	return rc;
}

int store_open_home(const struct store *store, uint64_t size, int *ret_home)
{
	if (!store->directory.path) {
		return -ENXIO;
	}
	if (store->read_only) {
		return -EROFS;
	}
	if (size > entry_size_limit(store->max_size)) {
		return -EFBIG;
	}
	return directory_open(&store->directory, DIRECTORY_MAKE, ret_home);
}

/* Counts what was evicted. Returns true if something was. */
static bool note_evictions(struct store *store, const struct sample_removed *removed)
{
	atomic_fetch_add_explicit(&store->evictions, removed->entries, memory_order_relaxed);
	return removed->bytes > 0;
}

void store_evict_after(struct store *store, const struct evict *stored)
{
	const struct sample_removed removed = evict_after_store(stored);

	(void)note_evictions(store, &removed);
}

/*
 * If the file system or a quota has no room (for bytes or inodes), entries are evicted until it should have, and the
 * entry is stored again.
 */
int store_put(struct store *store, const struct entry *entry)
{
	const struct entry_info *info = entry_info(entry);
	struct evict stored = {&store->directory, -1, store->max_size, store->clock(), info->key, info->total_size};
	int rc = store_open_home(store, info->total_size, &stored.home);

	if (rc < 0) {
		return rc;
	}
	rc = put_in_home(store, stored.home, entry, &stored);
	for (unsigned i = 0; i < ROOM_TRIES && (rc == -ENOSPC || rc == -EDQUOT); i++) {
		const struct sample_removed removed = evict_for_room(&stored);

		if (!note_evictions(store, &removed)) {
			break;
		}
		rc = put_in_home(store, stored.home, entry, &stored);
	}
	if (rc == 0) {
		store_evict_after(store, &stored);
	}
	close(stored.home);
	return rc;
}

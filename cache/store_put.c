/* SPDX-License-Identifier: MIT */
/*
 * Storing a result in the file of its key, and files beside it:
 *
 *   lock the key --> temporary file: the new result, then each sound old one with other dependencies --> rename
 *   --> unlock --> above the cap: evict the least recently used entries
 *   no room on the disk --> evict --> once again from the beginning
 */
#include "cache/store_state.h"

#include "cache/lock.h"
#include "cache/output.h"
#include "cache/recency.h"
#include "cache/source.h"
#include "cache/temporary.h"
#include "cache/trust.h"
#include "cache/upkeep/evict.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#define ROOM_TRIES 3

/*
 * Copies the old results of the key behind the new one, of `written` bytes. Old results that cannot be read, that have
 * the same dependencies, or that exceed the size limit or RLIMIT_FSIZE are dropped. Only another failure to write the
 * temporary file is an error.
 */
static int append_old(const struct store *store, const struct temporary *temporary, const char *name,
                      const struct entry *entry, uint64_t *written, struct stat *ret_replaced)
{
	const uint64_t limit = entry_size_limit(store->options.max_size);
	struct source source = {.file = -1};
	struct entry_info info;
	size_t size;
	const void *dependencies = entry_dependencies(entry, &size);
	const uint8_t *bytes;
	int rc = 0;

	if (source_open(&store->directory, temporary->directory, name, ret_replaced, &source) < 0) {
		return 0;
	}
	for (uint64_t offset = 0, count = 1; offset < source.size && count < STORE_RESULTS_MAX && rc == 0;
	     offset += info.total_size) {
		if (source_header(&source, offset, entry_info(entry)->key, &info) < 0 ||
		    info.total_size > limit - *written) {
			break;
		}
		if (source_bytes(&source, offset, info.total_size, &bytes) == 0 && entry_sound(bytes, &info) &&
		    (info.dependencies_size != size || memcmp(bytes + ENTRY_HEADER_BYTES, dependencies, size) != 0)) {
			rc = output_at(temporary->file, (off_t)*written, bytes, info.total_size);
			*written += rc == 0 ? info.total_size : 0;
			count++;
		}
	}
	source_close(&source);
	return rc == -EFBIG ? 0 : rc;
}

/*
 * A file is marked as short-lived only if it is new or was so marked before. Otherwise the older results in it, which
 * were used, would be evicted first together with the new one.
 */
static enum recency_mark choose_mark(const struct entry *entry, const struct stat *replaced)
{
	bool is_new = !S_ISREG(replaced->st_mode) || recency_mark_of(replaced) == RECENCY_SHORT_LIVED;

	return entry_info(entry)->short_lived && is_new ? RECENCY_SHORT_LIVED : RECENCY_MARKED;
}

/* Opens the shard, and begins a file in it with the mode and group of an entry. The caller closes both, if open. */
static int begin_file(const struct store *store, int home, unsigned shard, struct temporary *ret_temporary)
{
	const bool shared = store->directory.shared;
	int place;
	int rc = directory_open_shard(&store->directory, home, shard, DIRECTORY_MAKE, &place);

	*ret_temporary = (struct temporary){.directory = -1, .file = -1};
	if (rc == 0) {
		rc = temporary_begin(place, trust_first_mode(shared, place, 0666), ret_temporary);
	}
	return rc == 0 && shared ? trust_settle_file(shared, place, ret_temporary->file) : rc;
}

static void end_file(struct temporary *temporary)
{
	temporary_discard(temporary);
	if (temporary->directory >= 0) {
		close(temporary->directory);
	}
}

static int open_home(const struct store *store, uint64_t size, int *ret_home)
{
	if (!store->directory.path || store->options.read_only) {
		return store->directory.path ? -EROFS : -ENXIO;
	}
	if (size > entry_size_limit(store->options.max_size)) {
		return -EFBIG;
	}
	return directory_open(&store->directory, DIRECTORY_MAKE, ret_home);
}

static struct sample_task begin_task(const struct store *store, const uint8_t *key, uint64_t size)
{
	return (struct sample_task){.directory = &store->directory,
	                            .cap = store->options.max_size,
	                            .now = store->options.clock(),
	                            .key = key,
	                            .bytes = size};
}

/* Evicts, and counts that. Returns true if something was removed. */
static bool evict(struct store *store, const struct sample_task *task, enum evict_reason reason)
{
	const struct sample_removed removed = evict_entries(task, reason);

	atomic_fetch_add_explicit(&store->evictions, removed.entries, memory_order_relaxed);
	return removed.bytes > 0;
}

/*
 * Waits at most LOCK_WAIT_US for the key's lock: losing a result of another process is better than a longer wait. If
 * the file system or a quota has no room (for bytes or inodes), entries are evicted until it should have, and the entry
 * is stored again.
 */
int store_put(struct store *store, const struct entry *entry)
{
	size_t size;
	const void *bytes = entry_bytes(entry, &size);
	const uint8_t *key = entry_info(entry)->key;
	struct sample_task stored = begin_task(store, key, size);
	char name[DIRECTORY_NAME_BYTES];
	struct temporary temporary;
	unsigned tries = 0;
	int lock;
	int rc = open_home(store, size, &stored.home);

	if (rc < 0) {
		return rc;
	}
	directory_name(key, DIRECTORY_ENTRY, name);
	do {
		struct stat replaced = {0};
		uint64_t written = size;

		(void)lock_take_key(&store->directory, stored.home, key, LOCK_WAIT_US, &lock);
		rc = begin_file(store, stored.home, key[0], &temporary);
		rc = rc < 0 ? rc : output_at(temporary.file, 0, bytes, size);
		rc = rc < 0 ? rc : append_old(store, &temporary, name, entry, &written, &replaced);
		if (rc == 0) {
			/* read after the last write: that sets the mtime, and the later of mtime and atime counts */
			stored.now = store->options.clock();
			stored.bytes = written;
			recency_mark_file(temporary.file, stored.now, choose_mark(entry, &replaced));
			rc = temporary_publish(&temporary, name,
			                       store->options.fsync ? DURABILITY_SYNC : DURABILITY_NONE);
		}
		end_file(&temporary);
		lock_release(lock);
	} while ((rc == -ENOSPC || rc == -EDQUOT) && tries++ < ROOM_TRIES && evict(store, &stored, EVICT_FOR_ROOM));
	if (rc == 0) {
		(void)evict(store, &stored, EVICT_AFTER_STORE);
	}
	close(stored.home);
	return rc;
}

/* The new file counts, so entries may have to be evicted. */
static int put_beside(struct store *store, const uint8_t key[ENTRY_KEY_BYTES], enum directory_kind kind,
                      const void *bytes, size_t size)
{
	char name[DIRECTORY_NAME_BYTES];
	struct sample_task stored = begin_task(store, key, size);
	struct temporary temporary;
	int rc = open_home(store, size, &stored.home);

	if (rc < 0) {
		return rc;
	}
	directory_name(key, kind, name);
	rc = begin_file(store, stored.home, key[0], &temporary);
	rc = rc < 0 ? rc : output_at(temporary.file, 0, bytes, size);
	rc = rc < 0 ? rc : temporary_publish(&temporary, name, DURABILITY_NONE);
	end_file(&temporary);
	if (rc == 0) {
		stored.now = store->options.clock();
		(void)evict(store, &stored, EVICT_AFTER_STORE);
	}
	close(stored.home);
	return rc;
}

int store_put_request(struct store *store, const uint8_t key[ENTRY_KEY_BYTES], const void *bytes, size_t size)
{
	return put_beside(store, key, DIRECTORY_BESIDE, bytes, size);
}

int store_put_facts(struct store *store, const uint8_t key[ENTRY_KEY_BYTES], const void *bytes, size_t size)
{
	const uint64_t most = entry_size_limit(store->options.max_size);

	return put_beside(store, key, DIRECTORY_FACTS, bytes, size < most ? size : (size_t)most);
}

/* SPDX-License-Identifier: MIT */
/*
 * store_put: storing a result in the file of its key, and files beside it (cache/store.h)
 *
 *   lock the key --> temporary file: the new result, then each sound old one with other dependencies --> rename
 *   --> unlock --> above the cap: evict the least recently used entries
 *   no room on the disk --> evict --> once again from the beginning
 */
#include "cache/store.h"

#include "cache/calls.h"
#include "cache/counters.h"
#include "cache/lock.h"
#include "cache/output.h"
#include "cache/recency.h"
#include "cache/source.h"
#include "cache/trust.h"
#include "cache/upkeep/evict.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define ROOM_TRIES 3

/*
 * A file that gets its final name only when it is complete:
 *
 *   --begin_file--> open --output_at()--> open --publish_file--> closed --> renamed: done
 *                    |                      |                      |
 *                    `----------------------`------ failure -------`--> end_file: closed, unlinked
 */
struct temporary {
	int shard;     /* descriptor; -1: not open */
	int file;      /* -1: not open */
	char name[48]; /* "": there is none */
};

/* Differs for each file of this process. Another one with its process id, in a container, has other times. */
static uint64_t next_number(void)
{
	static atomic_uint_fast64_t counter;
	const uint64_t count = atomic_fetch_add_explicit(&counter, 1, memory_order_relaxed);

	return ((uint64_t)call_clock_straight() + (count << 48)) * UINT64_C(0x9e3779b97f4a7c15);
}

/* Opens the shard, and begins a file in it with the mode and group of an entry. The caller calls end_file(). */
static int begin_file(const struct store *store, int home, unsigned shard, struct temporary *ret_temporary)
{
	const bool shared = store->directory.shared;
	const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
	struct temporary *temporary = ret_temporary;
	int rc;

	*temporary = (struct temporary){.shard = -1, .file = -1};
	rc = directory_open_shard(&store->directory, home, shard, DIRECTORY_MAKE, &temporary->shard);
	if (rc < 0) {
		return rc;
	}
	(void)snprintf(temporary->name, sizeof(temporary->name), "tmp.%ld.%016llx", (long)getpid(),
	               (unsigned long long)next_number());
	temporary->file =
	    call_openat(temporary->shard, temporary->name, flags, trust_first_mode(shared, temporary->shard, 0666));
	if (temporary->file < 0) {
		temporary->name[0] = '\0';
		return -errno;
	}
	return trust_settle_file(shared, temporary->shard, temporary->file);
}

/* If `synced`, the content is synced before the rename, and the directory after it. */
static int publish_file(struct temporary *temporary, const char *name, bool synced)
{
	const int file = temporary->file;

	if (synced && TEMP_FAILURE_RETRY(fsync(file)) < 0) {
		return -errno;
	}
	temporary->file = -1;
	if (close(file) < 0 && errno != EINTR) { /* NFS and quotas report a full disk here */
		return -errno;
	}
	if (renameat(temporary->shard, temporary->name, temporary->shard, name) < 0) {
		return -errno;
	}
	temporary->name[0] = '\0';
	return synced && TEMP_FAILURE_RETRY(fsync(temporary->shard)) < 0 ? -errno : 0;
}

/* Removes the file, unless it was published. */
static void end_file(const struct temporary *temporary)
{
	call_close(temporary->file);
	if (temporary->name[0] != '\0') {
		(void)unlinkat(temporary->shard, temporary->name, 0);
	}
	call_close(temporary->shard);
}

/*
 * Copies the old results of the key behind the new one, of `written` bytes. Old results that cannot be read, that have
 * the same dependencies, or that exceed the size limit or RLIMIT_FSIZE are dropped. Only another failure to write the
 * temporary file is an error.
 */
static int append_old(const struct store *store, const struct temporary *temporary, const char *name,
                      const struct entry *entry, uint64_t *written, struct stat *ret_replaced)
{
	const uint64_t limit = entry_size_limit(store->max_size);
	struct source source = {.file = -1};
	struct entry_info info;
	size_t size;
	const void *dependencies = entry_dependencies(entry, &size);
	const uint8_t *bytes;
	int rc = 0;

	if (source_open(&store->directory, temporary->shard, name, ret_replaced, &source) < 0) {
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

/* Prepares to store `size` bytes under `key`. The caller calls end_put() after a success. */
static int begin_put(const struct store *store, const uint8_t key[ENTRY_KEY_BYTES], size_t size,
                     struct sample_task *ret_stored)
{
	*ret_stored = (struct sample_task){
	    .directory = &store->directory, .cap = store->max_size, .now = store_now(store), .key = key, .bytes = size};
	if (!store->directory.path || store->read_only) {
		return store->directory.path ? -EROFS : -ENXIO;
	}
	if (size > entry_size_limit(store->max_size)) {
		return -EFBIG;
	}
	return directory_open(&store->directory, DIRECTORY_MAKE, &ret_stored->home);
}

/* Evicts, and counts that. Returns true if something was removed. */
static bool evict(const struct sample_task *task, enum evict_reason reason)
{
	const struct sample_removed removed = evict_entries(task, reason);

	counters_add(COUNTER_TOTAL_evictions, removed.entries);
	return removed.bytes > 0;
}

/*
 * Writes a file of the key; `entry` is NULL if it is not that of the results. Waits at most LOCK_WAIT_US for the key's
 * lock: losing a result of another process is better than a longer wait.
 */
static int write_file(const struct store *store, struct sample_task *stored, enum directory_kind kind,
                      const void *bytes, const struct entry *entry)
{
	char name[DIRECTORY_NAME_BYTES];
	struct temporary temporary;
	struct stat replaced = {0};
	uint64_t written = stored->bytes;
	int lock = -1;
	int rc;

	directory_name(stored->key, kind, name);
	if (entry) {
		(void)lock_take(&store->directory, stored->home, stored->key, LOCK_WAIT_US, &lock);
	}
	rc = begin_file(store, stored->home, stored->key[0], &temporary);
	rc = rc < 0 ? rc : output_at(temporary.file, 0, bytes, written);
	if (rc == 0 && entry) {
		rc = append_old(store, &temporary, name, entry, &written, &replaced);
	}
	if (rc == 0) {
		/* read after the last write: that sets the mtime, and the later of mtime and atime counts */
		stored->now = store_now(store);
		stored->bytes = written;
		if (entry) {
			recency_mark_file(temporary.file, stored->now, choose_mark(entry, &replaced));
		}
		rc = publish_file(&temporary, name, entry && store->fsync);
	}
	end_file(&temporary);
	lock_release(lock);
	return rc;
}

/* Every new file counts, so entries may have to be evicted. */
static int end_put(const struct sample_task *stored, int rc)
{
	if (rc == 0) {
		(void)evict(stored, EVICT_AFTER_STORE);
	}
	close(stored->home);
	return rc;
}

/*
 * If the file system or a quota has no room (for bytes or inodes), entries are evicted until it should have, and the
 * entry is stored again.
 */
int store_put(const struct store *store, const struct entry *entry)
{
	size_t size;
	const void *bytes = entry_bytes(entry, &size);
	struct sample_task stored;
	unsigned tries = 0;
	int rc = begin_put(store, entry_info(entry)->key, size, &stored);

	if (rc < 0) {
		return rc;
	}
	do {
		stored.bytes = size;
		rc = write_file(store, &stored, DIRECTORY_ENTRY, bytes, entry);
	} while ((rc == -ENOSPC || rc == -EDQUOT) && tries++ < ROOM_TRIES && evict(&stored, EVICT_FOR_ROOM));
	return end_put(&stored, rc);
}

int store_put_beside(const struct store *store, const uint8_t key[ENTRY_KEY_BYTES], enum directory_kind kind,
                     const void *bytes, size_t size)
{
	struct sample_task stored;
	int rc = begin_put(store, key, size, &stored);

	return rc < 0 ? rc : end_put(&stored, write_file(store, &stored, kind, bytes, NULL));
}

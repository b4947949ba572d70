/* SPDX-License-Identifier: MIT */
/*
 * All shards are scanned first, so the order of removal is exact. Then records are removed in rounds, shard by
 * shard: the shard is marked as unknown, its files are removed under their keys' locks, and it is counted again. Other
 * processes can store between these steps.
 */
#include "cache/tools/prune.h"

#include "cache/lock.h"
#include "cache/recency.h"
#include "cache/source.h"
#include "cache/store_state.h"
#include "cache/tools/chore.h"
#include "cache/upkeep/evict.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LOCK_WAIT_US 2000000

struct work {
	const struct evict *evict;
	struct chore *chore;
	struct evict_report report;
	struct evict_list list;
	uint64_t shard_bytes[DIRECTORY_SHARDS]; /* from our own scans, so also right if no index can be written */
	uint64_t foreign_bytes;                 /* the part of them that is not ours to remove */
	uint64_t entries;
};

/* Waits two seconds, ten times as long as a store does: for the user of a command, waiting is better than a failure. */
static int begin_index(const struct evict *evict, int *ret_lock, struct usage_index **ret_index)
{
	return usage_index_begin(evict->directory, evict->home, LOCK_WAIT_US, ret_lock, ret_index);
}

static uint64_t count_bytes(const struct work *work)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < DIRECTORY_SHARDS; i++) {
		bytes += work->shard_bytes[i];
	}
	return bytes > work->foreign_bytes ? bytes - work->foreign_bytes : 0;
}

static int scan_shards(struct work *work)
{
	const struct evict *evict = work->evict;
	struct usage_index *index;
	int lock;

	for (unsigned shard = 0; shard < DIRECTORY_SHARDS; shard++) {
		/* the lock is acquired again for each shard, so that no store waits for the scan of all of them */
		int rc = chore_stopped(work->chore) ? -EINTR : begin_index(evict, &lock, &index);

		if (rc < 0) {
			return rc;
		}
		evict_scan_shard(evict, index, shard, &work->report, &work->list);
		work->shard_bytes[shard] = index->page.shards[shard].bytes;
		work->entries += index->page.shards[shard].files;
		(void)usage_index_end(lock, index);
		chore_begin(work->chore, CHORE_LOOKING, work->list.count * DIRECTORY_SHARDS / (shard + 1),
		            CHORE_GUESSED);
		chore_add(work->chore, work->list.count);
		chore_tell(work->chore);
	}
	return work->list.failed ? -ENOMEM : 0;
}

/* Removes the file if its size and time of use have not changed since the scan, and its first bytes are ours. */
static void remove_file(struct work *work, int shard, const struct usage_index_record *record)
{
	struct evict_report *report = &work->report;
	char name[DIRECTORY_NAME_BYTES];
	struct stat found;
	bool ours;

	directory_entry_name(record->key, name);
	if (!source_look(work->evict->directory, shard, name, &found, &ours)) {
		report->failures += errno != ENOENT;
		return;
	}
	if (!S_ISREG(found.st_mode) || (uint64_t)found.st_size != record->size ||
	    recency_rank(&found) != record->used) {
		return;
	}
	if (!ours) { /* its bytes no longer count, or entries would be removed in its place */
		report->foreign++;
		work->foreign_bytes += record->size;
	} else if (unlinkat(shard, name, 0) < 0) {
		report->failures += errno != ENOENT;
	} else {
		report->entries++;
		report->bytes += record->size;
	}
}

/*
 * Marks the shard as unknown, because its sum is wrong while files are removed from it. If this process is killed, the
 * shard stays unknown and the next stores count it. If the index cannot be locked, nothing is removed.
 */
static int begin_shard(struct work *work, unsigned shard)
{
	struct usage_index *index;
	int lock;
	int rc;

	rc = begin_index(work->evict, &lock, &index);
	if (rc == 0) {
		index->page.shards[shard].known = 0;
		(void)usage_index_end(lock, index);
	}
	return rc;
}

/* Counts the shard again with a scan, because other processes may have stored in it meanwhile. */
static int end_shard(struct work *work, unsigned shard)
{
	struct evict_report unused = {0};
	struct usage_index *index;
	int lock;
	int rc = begin_index(work->evict, &lock, &index);

	if (rc == 0) {
		evict_scan_shard(work->evict, index, shard, &unused, NULL);
		index->page.shards[shard].known = 1;
		work->shard_bytes[shard] = index->page.shards[shard].bytes;
		(void)usage_index_end(lock, index);
	}
	return rc;
}

/*
 * Removes records of one shard. If another process holds the lock of a key, the file stays, because that process is
 * storing there. A shard that no longer exists is no error.
 */
static int remove_from_shard(struct work *work, const struct usage_index_record *records, size_t count)
{
	const struct evict *evict = work->evict;
	unsigned shard = records[0].key[0];
	int place = -1;
	int lock;
	int rc = begin_shard(work, shard);

	if (rc == 0) {
		rc = directory_open_shard(evict->directory, evict->home, shard, DIRECTORY_REACH, &place);
	}
	if (rc < 0) {
		return rc == -ENOENT ? 0 : rc;
	}
	lock = lock_begin(evict->directory, evict->home);
	for (size_t i = 0; i < count && !chore_stopped(work->chore); i++) {
		if (lock_add_key(lock, records[i].key)) {
			remove_file(work, place, &records[i]);
			lock_release_key(lock, records[i].key);
		}
		chore_add(work->chore, 1);
	}
	rc = end_shard(work, shard);
	close(place);
	lock_release(lock);
	return rc;
}

static int compare_keys(const void *a, const void *b)
{
	const struct usage_index_record *left = a;
	const struct usage_index_record *right = b;

	return memcmp(left->key, right->key, ENTRY_KEY_BYTES);
}

/* Sorts by key, so that the records of each shard are adjacent. Returns the first error. */
static int remove_round(struct work *work, struct usage_index_record *records, size_t count)
{
	int rc = 0;

	qsort(records, count, sizeof(*records), compare_keys);
	chore_begin(work->chore, CHORE_WORKING, count, CHORE_KNOWN);
	for (size_t at = 0, end = 0; at < count && !chore_stopped(work->chore); at = end) {
		int removed;

		while (end < count && records[end].key[0] == records[at].key[0]) {
			end++;
		}
		removed = remove_from_shard(work, records + at, end - at);
		rc = rc < 0 ? rc : removed;
		chore_advance(work->chore, end, count);
	}
	return rc == 0 && chore_stopped(work->chore) ? -EINTR : rc;
}

/* Entries larger than an eighth of the cap come first, as in evict.h: they were stored before the cap was lowered. */
static int compare_use(const void *a, const void *b, void *context)
{
	const struct usage_index_record *left = a;
	const struct usage_index_record *right = b;
	const uint64_t *limit = context;
	int small = (left->size <= *limit) - (right->size <= *limit);

	return small ? small : (left->used > right->used) - (left->used < right->used);
}

/* Moves the records used before that time to the front and returns their number. */
static size_t move_old_first(struct usage_index_record *records, size_t count, int64_t used_before)
{
	size_t old = 0;

	for (size_t i = 0; i < count; i++) {
		if (recency_of_rank(records[i].used) < used_before) {
			struct usage_index_record other = records[old];

			records[old++] = records[i];
			records[i] = other;
		}
	}
	return old;
}

/*
 * Removes the entries last used before `used_before` (INT64_MIN: none), then the least recently used until the sum is
 * below the cap. There is a further round only if files were not removed, because they had changed since the scan.
 */
static int remove_old(struct work *work, int64_t used_before)
{
	const uint64_t cap = work->evict->max_size ? work->evict->max_size : UINT64_MAX;
	uint64_t limit = work->evict->max_size ? work->evict->max_size / 8 : UINT64_MAX;
	struct usage_index_record *records = work->list.records;
	size_t at = move_old_first(records, work->list.count, used_before);
	int rc = at > 0 ? remove_round(work, records, at) : 0;

	if (rc == 0 && count_bytes(work) > cap && at < work->list.count) {
		qsort_r(records + at, work->list.count - at, sizeof(*records), compare_use, &limit);
	}
	while (rc == 0 && count_bytes(work) > cap && at < work->list.count) {
		uint64_t left = count_bytes(work);
		size_t from = at;

		while (at < work->list.count && left > cap) {
			left -= records[at].size < left ? records[at].size : left;
			at++;
		}
		rc = remove_round(work, records + from, at - from);
	}
	return rc;
}

/* If the directory does not exist, there is nothing to remove, and it is not created. */
int store_prune(struct store *store, int64_t unused_ns, struct store_pruned *ret_pruned)
{
	struct evict evict = {.directory = &store->directory, .max_size = store->max_size, .now = store->clock()};
	struct work work = {.evict = &evict, .chore = store->chore};
	struct evict_report *report = &work.report;
	int rc;

	if (!store->directory.path) {
		return -ENXIO;
	}
	if (store->read_only) {
		return -EROFS;
	}
	rc = directory_open(&store->directory, DIRECTORY_REACH, &evict.home);
	if (rc == 0) {
		rc = scan_shards(&work);
		if (rc == 0 && work.list.count > 0) {
			rc = remove_old(&work, unused_ns < evict.now ? evict.now - unused_ns : INT64_MIN);
		}
		free(work.list.records);
		close(evict.home);
	}
	if (rc < 0 && rc != -ENOENT && rc != -EINTR) { /* -ENOENT: nothing has been stored yet */
		return rc;
	}
	*ret_pruned = (struct store_pruned){
	    .removed = {.entries = report->entries, .bytes = report->bytes, .temporaries = report->temporaries},
	    .foreign = report->foreign,
	    .left = {.entries = work.entries - report->entries, .bytes = count_bytes(&work)},
	    .failures = report->failures,
	};
	return rc == -EINTR ? rc : 0;
}

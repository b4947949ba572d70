/* SPDX-License-Identifier: MIT */
/*
 * evict: counting and evicting after a store
 *
 *   lock --> load index ----> count the new file --> unknown shards, or time for a scan? --yes--> scan (two at most)
 *                                                              |                                    |
 *   unlock <-- save index <--------- no ------ above the cap? <+------------------------------------'
 *                   ^                                |yes
 *                   |                                v
 *                   |           oldest record --> examine its file --same--> used within the hour? --no--> remove
 *                   |                 ^               |changed, gone            |yes: spare, mark            |
 *                   |                 `---------------+-------------------------'                            |
 *                   `--- below the cap, nothing left, or too many failures <---------------------------------'
 */
#include "cache/upkeep/evict.h"

#include "cache/lock.h"
#include "cache/recency.h"
#include "cache/source.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LOCK_WAIT_US 200000
#define SCANS_MAX    2 /* per store */
#define MINUTE_NS    (RECENCY_PERIOD_NS / 60)

/* ---- the scan of one shard */

struct scan {
	const struct evict *evict;
	struct usage_index *index;
	struct evict_report *report;
	struct evict_list *list;
};

/*
 * Returns whether a temporary file was left behind. It is older than an hour, or older than a minute and its process
 * (whose id is in the name) does not exist. Each write makes a file younger, so a slow writer does not lose its file.
 */
static bool is_stale(const char *name, const struct stat *found, int64_t now)
{
	int64_t age = now - recency_of(found);
	char *end;
	long pid = strtol(name + 4, &end, 10);

	if (age >= RECENCY_PERIOD_NS) {
		return true;
	}
	return age >= MINUTE_NS && *end == '.' && pid > 0 && pid == (pid_t)pid && kill((pid_t)pid, 0) < 0 &&
	       errno == ESRCH;
}

/* Adds an entry to the list. Without memory the list is marked as incomplete, and the caller removes nothing. */
static void keep_in_list(struct evict_list *list, const uint8_t key[ENTRY_KEY_BYTES], uint64_t size, int64_t used)
{
	if (list->count == list->room) {
		size_t room = list->room ? list->room * 2 : 1024;
		void *grown = realloc(list->records, room * sizeof(*list->records));

		if (!grown) {
			list->failed = true;
			return;
		}
		list->records = grown;
		list->room = room;
	}
	memcpy(list->records[list->count].key, key, ENTRY_KEY_BYTES);
	list->records[list->count].used = used;
	list->records[list->count++].size = size;
}

/* Removes the temporary file if it is stale. Returns false if the file stays and counts; foreign files do not count. */
static bool sweep_temporary(const struct scan *scan, int at, const char *name, const struct stat *found)
{
	if (recency_ahead(recency_of(found), scan->evict->now)) { /* otherwise it would never become stale */
		recency_touch(at, name, found, scan->evict->now);
	}
	if (!is_stale(name, found, scan->evict->now)) {
		return false;
	}
	if (!source_is_ours(scan->evict->directory, at, name)) {
		scan->report->foreign++;
		return true;
	}
	if (unlinkat(at, name, 0) < 0) {
		scan->report->failures += errno != ENOENT;
		return errno == ENOENT;
	}
	scan->report->temporaries++;
	scan->report->bytes += (uint64_t)found->st_size;
	return true;
}

/*
 * Adds a file of the shard to the index, the list and the report. A file that was removed meanwhile is not counted.
 * Returns false if the file cannot be examined: the sum of the shard is then incomplete.
 */
static bool count_file(const struct scan *scan, int at, unsigned shard, const char *name)
{
	int64_t now = scan->evict->now;
	uint8_t key[ENTRY_KEY_BYTES];
	struct stat found;
	int64_t used;

	if (fstatat(at, name, &found, AT_SYMLINK_NOFOLLOW) < 0) {
		return errno == ENOENT;
	}
	if (S_ISDIR(found.st_mode)) {
		return true;
	}
	if (!S_ISREG(found.st_mode) || (!directory_is_temporary(name) && !directory_entry_key(shard, name, key))) {
		scan->report->foreign++;
		return true;
	}
	if (directory_is_temporary(name)) {
		if (!sweep_temporary(scan, at, name, &found)) {
			usage_index_count_other(scan->index, shard, (uint64_t)found.st_size);
		}
		return true;
	}
	used = recency_rank(&found);
	if (recency_ahead(used, now)) {
		recency_touch(at, name, &found, now);
		used = now;
	}
	usage_index_count(scan->index, key, (uint64_t)found.st_size, used);
	if (scan->list) {
		keep_in_list(scan->list, key, (uint64_t)found.st_size, used);
	}
	return true;
}

/*
 * After an incomplete scan, the larger of both sums is used, because files were missed. A shard that was unknown before
 * stays unknown and is scanned again soon.
 */
static void keep_more(const struct usage_index_shard *before, struct usage_index_shard *shard)
{
	if (before->known && before->bytes > shard->bytes) {
		*shard = *before;
	}
	shard->known = before->known;
}

/*
 * The sums of a shard that cannot be read stay, and it is marked as known: if it stayed unknown, every store would try
 * to scan it again.
 */
void evict_scan_shard(const struct evict *evict, struct usage_index *index, unsigned shard, struct evict_report *report,
                      struct evict_list *list)
{
	const struct scan scan = {evict, index, report, list};
	const struct usage_index_shard before = index->page.shards[shard];
	bool complete = true;
	struct dirent *found;
	int place = -1;
	int rc = directory_open_shard(evict->directory, evict->home, shard, DIRECTORY_LIST, &place);
	DIR *names = rc == 0 ? fdopendir(place) : NULL;

	index->page.stores = 0;
	if (!names) {
		if (rc == 0) {
			close(place);
		}
		if (rc == -ENOENT) {
			usage_index_begin_shard(index, shard);
		}
		index->page.shards[shard].known = 1;
		return;
	}
	usage_index_begin_shard(index, shard);
	for (errno = 0; (found = readdir(names)) != NULL; errno = 0) {
		if (strcmp(found->d_name, ".") != 0 && strcmp(found->d_name, "..") != 0 &&
		    !count_file(&scan, dirfd(names), shard, found->d_name)) {
			complete = false;
		}
	}
	if (!complete || errno != 0) {
		keep_more(&before, &index->page.shards[shard]);
	}
	closedir(names);
}

/* ---- what a store does */

enum outcome { REMOVED, GONE, OTHER, SPARED, BUSY, FOREIGN, FAILED };

struct work {
	const struct evict *evict;
	struct usage_index *index;
	int lock;
	struct evict_report report;
};

/* The same limit as in store_put(): a larger entry was stored when the cap was higher. */
static uint64_t size_limit(const struct evict *evict)
{
	return evict->max_size ? evict->max_size / 8 : UINT64_MAX;
}

enum which_shard { SHARD_ANY, SHARD_UNKNOWN };

/* Returns the shard to scan next. The cursor is in the index, so that all processes take turns around the shards. */
static unsigned next_shard(struct usage_index *index, enum which_shard which)
{
	unsigned shard;

	do {
		shard = index->page.cursor++ % DIRECTORY_SHARDS;
	} while (which == SHARD_UNKNOWN && index->page.shards[shard].known);
	return shard;
}

/* Returns whether the sum is above the cap. Without a cap nothing is removed, and only the sums are updated. */
static bool is_over(const struct work *work)
{
	unsigned unknown;

	return work->evict->max_size && usage_index_total(work->index, &unknown) > work->evict->max_size;
}

/* Returns whether the next shard should be scanned. The more files it has, the more stores share the cost of a scan. */
static bool scan_is_due(const struct usage_index *index, bool over)
{
	uint64_t files = index->page.shards[index->page.cursor % DIRECTORY_SHARDS].files;

	return over ? index->page.stores * UINT64_C(16) >= files : index->page.stores * UINT64_C(8) >= 64 + files;
}

/* Makes the scans that are due and returns their number. Unknown shards come first, because their size is a guess. */
static unsigned scan_some(struct work *work)
{
	struct usage_index *index = work->index;
	unsigned scans = 0;
	unsigned unknown;

	for (; scans < SCANS_MAX; scans++) {
		(void)usage_index_total(index, &unknown);
		if (unknown == 0 && !scan_is_due(index, is_over(work))) {
			break;
		}
		evict_scan_shard(work->evict, index, next_shard(index, unknown ? SHARD_UNKNOWN : SHARD_ANY),
		                 &work->report, NULL);
	}
	return scans;
}

/* How to treat a file that was used within the last hour and is not marked. */
enum lately { LATELY_SPARED, LATELY_REMOVED };

/* Removes the file of the record if its size and rank are still those in the record. Does not change the record. */
static enum outcome remove_file(const struct work *work, const struct usage_index_record *record, int shard,
                                const char *name, enum lately lately, struct stat *ret_found)
{
	int64_t used;

	if (fstatat(shard, name, ret_found, AT_SYMLINK_NOFOLLOW) < 0) {
		return errno == ENOENT ? GONE : FAILED;
	}
	used = recency_rank(ret_found);
	if (!S_ISREG(ret_found->st_mode) || (uint64_t)ret_found->st_size != record->size || used != record->used) {
		return OTHER;
	}
	if (lately == LATELY_SPARED && work->evict->now - used < RECENCY_PERIOD_NS &&
	    recency_mark_of(ret_found) == RECENCY_USED) {
		return SPARED;
	}
	if (!source_is_ours(work->evict->directory, shard, name)) {
		return FOREIGN;
	}
	if (unlinkat(shard, name, 0) < 0) {
		return errno == ENOENT ? GONE : FAILED;
	}
	return REMOVED;
}

/*
 * Removes or spares the entry of one record, and updates the usage index accordingly. `record` must not be in the index
 * itself, which this function changes.
 */
static enum outcome settle_record(struct work *work, const struct usage_index_record *record, enum lately lately)
{
	struct usage_index *index = work->index;
	char name[DIRECTORY_NAME_BYTES];
	struct stat found;
	enum outcome outcome = BUSY;
	int shard = -1;
	int rc =
	    directory_open_shard(work->evict->directory, work->evict->home, record->key[0], DIRECTORY_REACH, &shard);

	directory_entry_name(record->key, name);
	if (rc < 0) {
		outcome = rc == -ENOENT || rc == -ENOTDIR ? GONE : FAILED;
	} else if (lock_add_key(work->lock, record->key)) {
		outcome = remove_file(work, record, shard, name, lately, &found);
		lock_release_key(work->lock, record->key);
	}
	switch (outcome) {
	case REMOVED:
		work->report.entries++;
		work->report.bytes += record->size;
		usage_index_subtract(index, record->key, record->size);
		break;
	case FOREIGN: /* we may not remove the file, so it no longer counts */
		work->report.foreign++;
		/* fall through */
	case GONE:
		if (usage_index_find(index, record->key) >= 0) {
			usage_index_subtract(index, record->key, record->size);
		}
		break;
	case OTHER:
		if (usage_index_find(index, record->key) >= 0) {
			usage_index_subtract(index, record->key, record->size);
			usage_index_count(index, record->key, (uint64_t)found.st_size, recency_rank(&found));
		}
		break;
	case SPARED:
		usage_index_set_used(index, record->key, recency_mark(shard, name, &found, work->evict->now));
		break;
	case BUSY: /* another process is storing under that key, so it is in use now */
		usage_index_set_used(index, record->key, work->evict->now);
		break;
	case FAILED:
		work->report.failures++;
		usage_index_forget(index, record->key);
		break;
	}
	if (shard >= 0) {
		close(shard);
	}
	return outcome;
}

/* The oldest entry among those that were examined and not removed. */
struct fallback {
	bool is_there;
	struct usage_index_record record;
};

static void keep_fallback(const struct usage_index *index, const uint8_t key[ENTRY_KEY_BYTES],
                          struct fallback *fallback)
{
	int number = usage_index_find(index, key);

	if (number >= 0 && (!fallback->is_there || index->page.records[number].used < fallback->record.used)) {
		fallback->is_there = true;
		fallback->record = index->page.records[number];
	}
}

/*
 * Removes entries until the sum is below the cap or `bytes_max` bytes were removed. `scans` is the number of scans that
 * this store has made. The new entry is not removed to make room for itself: if it is the oldest record, a scan has to
 * find older ones. If it is short-lived, its record has the time of use as its rank during the loop. That is set again
 * in each iteration, because a scan of its shard reads the rank from the file.
 */
static void make_room(struct work *work, const struct evict_file *file, uint64_t bytes_max, unsigned scans)
{
	struct usage_index *index = work->index;
	struct fallback fallback = {.is_there = false};
	unsigned checks = EVICT_CHECKS;
	struct usage_index_record record;
	enum outcome outcome;

	while (is_over(work) && work->report.bytes < bytes_max && work->report.failures < EVICT_FAILURES) {
		int number;

		if (file->rank < 0) {
			usage_index_set_used(index, file->key, recency_of_rank(file->rank));
		}
		number = usage_index_oldest(index, size_limit(work->evict));
		if (checks == 0 && !fallback.is_there) {
			break;
		}
		if (number < 0 || memcmp(index->page.records[number].key, file->key, ENTRY_KEY_BYTES) == 0) {
			if (scans++ >= SCANS_MAX) {
				break;
			}
			evict_scan_shard(work->evict, index, next_shard(index, SHARD_ANY), &work->report, NULL);
			continue;
		}
		record = checks > 0 ? index->page.records[number] : fallback.record;
		outcome = settle_record(work, &record, checks > 0 ? LATELY_SPARED : LATELY_REMOVED);
		if (outcome == REMOVED) {
			checks = EVICT_CHECKS;
			fallback.is_there = false;
		} else if (checks > 0) {
			checks--;
			keep_fallback(index, record.key, &fallback);
		} else {
			fallback.is_there = false;
		}
	}
	if (file->rank < 0) {
		usage_index_set_used(index, file->key, file->rank);
	}
}

int evict_put(const struct evict *evict, const struct evict_file *file, struct evict_report *ret_report)
{
	struct work work = {.evict = evict};
	uint64_t bytes_max = UINT64_MAX;
	unsigned unknown;
	unsigned scans;
	int rc = usage_index_begin(evict->directory, evict->home, LOCK_WAIT_US, &work.lock, &work.index);

	if (rc < 0) {
		return rc;
	}
	/* before any scan, because a scan counts the new file too and it must not be counted twice */
	usage_index_put(work.index, file->key, file->size, file->replaced, file->rank);
	work.index->page.stores++;
	scans = scan_some(&work);
	(void)usage_index_total(work.index, &unknown);
	if (unknown > 0) { /* the sum is a guess, so only a little may be removed because of it */
		bytes_max = work.report.bytes + 2 * file->size;
	}
	make_room(&work, file, bytes_max, scans);
	rc = usage_index_end(work.lock, work.index);
	*ret_report = work.report;
	return rc;
}

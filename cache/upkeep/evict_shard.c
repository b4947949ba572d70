/* SPDX-License-Identifier: MIT */
#include "cache/upkeep/evict_shard.h"

#include "cache/recency.h"
#include "cache/source.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MINUTE_NS (RECENCY_PERIOD_NS / 60)

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

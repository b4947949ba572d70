/* SPDX-License-Identifier: MIT */
/*
 * The file is one struct, read and written in one call under the lock. Every number in it is checked or bounded
 * before use, because the file may be torn, old, or written by another member of the group.
 */
#include "cache/upkeep/usage_index.h"

#include "cache/digits.h"
#include "cache/lock.h"
#include "cache/output.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <xxhash.h>

#define INDEX_NAME   "usage-index"
#define INDEX_MAGIC  "NVCACCNT"
#define INDEX_FORMAT 1
#define PEEKS_MAX    5
#define SUMMED_AT    offsetof(struct usage_index_page, format)

/* Returns the size of the file. Only the used records are written, because most caches have few. */
static size_t page_size(uint32_t count)
{
	return offsetof(struct usage_index_page, records) + count * sizeof(struct usage_index_record);
}

/* Detects a torn page, which a process leaves that is killed while it writes. */
static uint64_t checksum_of(const struct usage_index_page *page)
{
	return XXH3_64bits((const char *)page + SUMMED_AT, page_size(page->count) - SUMMED_AT);
}

/* Checks the count before page_size() and the checksum use it as a length. */
static bool is_sound(const struct usage_index_page *page, size_t size)
{
	return size >= page_size(0) && memcmp(page->magic, INDEX_MAGIC, sizeof(page->magic)) == 0 &&
	       page->format == INDEX_FORMAT && page->count <= USAGE_INDEX_RECORDS && size >= page_size(page->count) &&
	       page->checksum == checksum_of(page);
}

/*
 * Opens or creates the file. A file of another user, a link, an empty directory or a special file of that name is
 * removed if the system permits it. A file whose first bytes are not ours is not used and not removed, because another
 * program has put it there (-EPERM).
 */
static int open_or_make(const struct directory *directory, int home, int *ret_file)
{
	int rc = directory_open_file(directory, home, INDEX_NAME, O_RDWR | O_CREAT, ret_file);

	switch (-rc) {
	case EACCES:
	case EPERM:
	case ELOOP:
	case EISDIR:
	case ENXIO:
		if (unlinkat(home, INDEX_NAME, 0) < 0 && errno == EISDIR) {
			(void)unlinkat(home, INDEX_NAME, AT_REMOVEDIR);
		}
		rc = directory_open_file(directory, home, INDEX_NAME, O_RDWR | O_CREAT, ret_file);
		break;
	default:
		break;
	}
	if (rc == 0 && !directory_is_ours(*ret_file, INDEX_MAGIC)) {
		close(*ret_file);
		*ret_file = -1;
		rc = -EPERM;
	}
	return rc;
}

/* One pread() suffices: the file ends after the last record, and a short read only costs some scans. */
static bool read_page(int file, struct usage_index_page *ret_page)
{
	ssize_t got = TEMP_FAILURE_RETRY(pread(file, ret_page, sizeof(*ret_page), 0));

	return got >= 0 && is_sound(ret_page, (size_t)got);
}

/*
 * Makes a new index. Reading the names in v1 shows which shards exist; the others are empty. An error while reading
 * fails the call, because shards that were missed would count as empty for a long time. The clock selects the cursor:
 * if no index can be written, every store makes a new one, and a fixed cursor would scan the same shards each time.
 */
static int begin_anew(int home, struct usage_index_page *page)
{
	struct timespec now = {0};
	int place = TEMP_FAILURE_RETRY(openat(home, ".", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
	struct dirent *found;
	DIR *names;
	int rc;

	if (place < 0) {
		return -errno;
	}
	names = fdopendir(place);
	if (!names) {
		close(place);
		return -ENOMEM;
	}
	memset(page, 0, sizeof(*page));
	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	page->cursor = (uint32_t)now.tv_nsec / 1000;
	for (size_t i = 0; i < DIRECTORY_SHARDS; i++) {
		page->shards[i].known = 1;
	}
	for (errno = 0; (found = readdir(names)) != NULL; errno = 0) {
		uint8_t shard;

		if (digits_parse(found->d_name, 1, &shard) && found->d_name[2] == '\0') {
			page->shards[shard].known = 0;
		}
	}
	rc = -errno;
	closedir(names);
	return rc;
}

int usage_index_load(const struct directory *directory, int home, struct usage_index **ret_index)
{
	struct usage_index *index = malloc(sizeof(*index));
	int rc = 0;

	if (!index) {
		return -ENOMEM;
	}
	index->newest = -1;
	index->file = -1;
	if (open_or_make(directory, home, &index->file) < 0 || !read_page(index->file, &index->page)) {
		rc = begin_anew(home, &index->page);
	}
	if (rc < 0) {
		usage_index_free(index);
		return rc;
	}
	*ret_index = index;
	return 0;
}

/* Retries a page that is torn, because a concurrent writer needs only microseconds for its one call. */
int usage_index_peek(const struct directory *directory, int home, struct usage_index **ret_index)
{
	struct timespec pause = {.tv_nsec = 1000000};
	struct usage_index *index = malloc(sizeof(*index));
	int rc;

	if (!index) {
		return -ENOMEM;
	}
	index->newest = -1;
	index->file = -1;
	rc = directory_open_file(directory, home, INDEX_NAME, O_RDONLY, &index->file);
	for (int tries = 0; rc == 0; tries++) {
		if (read_page(index->file, &index->page)) {
			*ret_index = index;
			return 0;
		}
		rc = tries < PEEKS_MAX ? 0 : -EBADMSG;
		(void)nanosleep(&pause, NULL);
	}
	usage_index_free(index);
	return rc;
}

/*
 * Writes in place, without a temporary file and a rename: a torn page costs some scans, but a rename would cost every
 * store two more system calls.
 */
int usage_index_save(struct usage_index *index)
{
	struct usage_index_page *page = &index->page;

	if (index->file < 0) {
		return -EBADF;
	}
	memcpy(page->magic, INDEX_MAGIC, sizeof(page->magic));
	page->format = INDEX_FORMAT;
	page->checksum = checksum_of(page);
	return output_at(index->file, 0, page, page_size(page->count));
}

void usage_index_free(struct usage_index *index)
{
	if (index) {
		if (index->file >= 0) {
			close(index->file);
		}
		free(index);
	}
}

/* The lock is held until usage_index_end(): for microseconds, unless shards are scanned or files removed meanwhile. */
int usage_index_begin(const struct directory *directory, int home, unsigned wait_us, int *ret_lock,
                      struct usage_index **ret_index)
{
	int lock;
	int rc = lock_take(directory, home, LOCK_USAGE_INDEX, wait_us, &lock);

	if (rc < 0) {
		return rc;
	}
	rc = usage_index_load(directory, home, ret_index);
	if (rc < 0) {
		lock_release(lock);
		return rc;
	}
	*ret_lock = lock;
	return 0;
}

int usage_index_end(int lock, struct usage_index *index)
{
	int rc = usage_index_save(index);

	usage_index_free(index);
	lock_release(lock);
	return rc;
}

/* Checks the first bytes, because another program may have put a file there. */
void usage_index_remove(const struct directory *directory, int home)
{
	int file;

	if (directory_open_file(directory, home, INDEX_NAME, O_RDONLY, &file) == 0) {
		if (directory_is_ours(file, INDEX_MAGIC)) {
			(void)unlinkat(home, INDEX_NAME, 0);
		}
		close(file);
	}
}

/* The sums come from a file that may be forged, so they must not wrap around. */
static uint64_t add_saturated(uint64_t a, uint64_t b)
{
	return b > UINT64_MAX - a ? UINT64_MAX : a + b;
}

/* Unknown shards are estimated, because a lost index would otherwise make the cache look empty and exceed its cap. */
uint64_t usage_index_total(const struct usage_index *index, unsigned *ret_unknown)
{
	const struct usage_index_shard *shards = index->page.shards;
	uint64_t bytes = 0;
	unsigned filled = 0;
	unsigned unknown = 0;

	for (size_t i = 0; i < DIRECTORY_SHARDS; i++) {
		unknown += !shards[i].known;
		filled += shards[i].known && shards[i].bytes > 0;
		bytes = add_saturated(bytes, shards[i].known ? shards[i].bytes : 0);
	}
	*ret_unknown = unknown;
	return filled ? add_saturated(bytes, bytes / filled * unknown) : bytes;
}

/* A linear search of 512 records costs less than maintaining an index of them. */
int usage_index_find(const struct usage_index *index, const uint8_t key[ENTRY_KEY_BYTES])
{
	for (uint32_t i = 0; i < index->page.count; i++) {
		/* most records differ in the first byte, which saves the call of memcmp() */
		if (index->page.records[i].key[0] == key[0] &&
		    memcmp(index->page.records[i].key, key, ENTRY_KEY_BYTES) == 0) {
			return (int)i;
		}
	}
	return -1;
}

/* Returns the number of the record with the latest use. There must be at least one record. */
static int find_newest(struct usage_index *index)
{
	const struct usage_index_record *records = index->page.records;

	if (index->newest < 0) {
		index->newest = 0;
		for (uint32_t i = 1; i < index->page.count; i++) {
			index->newest = records[i].used > records[index->newest].used ? (int)i : index->newest;
		}
	}
	return index->newest;
}

/* Adds a record. If there is no room, the most recently used one is dropped, which may be the new one. */
static void record_use(struct usage_index *index, const uint8_t key[ENTRY_KEY_BYTES], uint64_t size, int64_t used)
{
	struct usage_index_record *records = index->page.records;
	uint32_t at = index->page.count;

	if (at == USAGE_INDEX_RECORDS) {
		at = (uint32_t)find_newest(index);
		if (records[at].used <= used) {
			return;
		}
	} else {
		index->page.count++;
	}
	memcpy(records[at].key, key, ENTRY_KEY_BYTES);
	records[at].used = used;
	records[at].size = size;
	index->newest = -1;
}

/* Deletes a record. The last record takes its place, because the order of records has no meaning. */
static void drop_record(struct usage_index *index, size_t number)
{
	index->page.records[number] = index->page.records[--index->page.count];
	index->newest = -1;
}

/* Deletes the record only: the file may still exist, so the sums do not change. */
void usage_index_forget(struct usage_index *index, const uint8_t key[ENTRY_KEY_BYTES])
{
	int number = usage_index_find(index, key);

	if (number >= 0) {
		drop_record(index, (size_t)number);
	}
}

static uint64_t subtract_saturated(uint64_t a, uint64_t b)
{
	return b > a ? 0 : a - b;
}

/* The size of a replaced file is known exactly, so the sums stay right without a scan. */
void usage_index_put(struct usage_index *index, const uint8_t key[ENTRY_KEY_BYTES], uint64_t size, uint64_t replaced,
                     int64_t used)
{
	struct usage_index_shard *shard = &index->page.shards[key[0]];
	int number = usage_index_find(index, key);

	if (number >= 0 && index->page.records[number].size == size && index->page.records[number].used == used) {
		return; /* a scan by another process has already counted the file */
	}
	usage_index_forget(index, key);
	shard->bytes = add_saturated(subtract_saturated(shard->bytes, replaced), size);
	shard->files += replaced == 0;
	record_use(index, key, size, used);
}

/* Deletes the record together with its share of the sums, so that a file cannot be subtracted twice. */
void usage_index_subtract(struct usage_index *index, const uint8_t key[ENTRY_KEY_BYTES], uint64_t size)
{
	struct usage_index_shard *shard = &index->page.shards[key[0]];

	shard->bytes = subtract_saturated(shard->bytes, size);
	shard->files -= shard->files > 0;
	usage_index_forget(index, key);
}

/* Deletes the records of the shard too; the scan adds those again whose files still exist. */
void usage_index_begin_shard(struct usage_index *index, unsigned shard)
{
	index->page.shards[shard] = (struct usage_index_shard){.known = 1};
	for (size_t i = index->page.count; i-- > 0;) {
		if (index->page.records[i].key[0] == shard) {
			drop_record(index, i);
		}
	}
}

void usage_index_count(struct usage_index *index, const uint8_t key[ENTRY_KEY_BYTES], uint64_t size, int64_t used)
{
	struct usage_index_shard *shard = &index->page.shards[key[0]];

	shard->bytes = add_saturated(shard->bytes, size);
	shard->files++;
	record_use(index, key, size, used);
}

/* Temporary files take space, but are not part of the order of eviction. */
void usage_index_count_other(struct usage_index *index, unsigned shard, uint64_t size)
{
	index->page.shards[shard].bytes = add_saturated(index->page.shards[shard].bytes, size);
}

/* Returns a too large entry first: after the cap was lowered, many small ones would otherwise be evicted for it. */
int usage_index_oldest(const struct usage_index *index, uint64_t size_max)
{
	const struct usage_index_record *records = index->page.records;
	int oldest = -1;

	for (uint32_t i = 0; i < index->page.count; i++) {
		if (records[i].size > size_max) {
			return (int)i;
		}
		oldest = oldest < 0 || records[i].used < records[oldest].used ? (int)i : oldest;
	}
	return oldest;
}

/* Changes only the time. find_newest() searches again when the newest record is needed. */
void usage_index_set_used(struct usage_index *index, const uint8_t key[ENTRY_KEY_BYTES], int64_t used)
{
	int number = usage_index_find(index, key);

	if (number >= 0) {
		index->page.records[number].used = used;
		index->newest = -1;
	}
}

/* SPDX-License-Identifier: MIT */
#include "cache/account.h"

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

#define ACCOUNT_NAME   "account"
#define ACCOUNT_MAGIC  "NVCACCNT"
#define ACCOUNT_FORMAT 1
#define PEEKS_MAX      5
#define SUMMED_AT      offsetof(struct account_page, format)

static size_t page_size(uint32_t count)
{
	return offsetof(struct account_page, records) + count * sizeof(struct account_record);
}

static uint64_t checksum_of(const struct account_page *page)
{
	return XXH3_64bits((const char *)page + SUMMED_AT, page_size(page->count) - SUMMED_AT);
}

static bool is_sound(const struct account_page *page, size_t size)
{
	return size >= page_size(0) && memcmp(page->magic, ACCOUNT_MAGIC, sizeof(page->magic)) == 0 &&
	       page->format == ACCOUNT_FORMAT && page->count <= ACCOUNT_RECORDS && size >= page_size(page->count) &&
	       page->checksum == checksum_of(page);
}

/* What stands there and is of no use (another user's, a link, a directory) is removed, where the system lets us. What
 * is a file with other first bytes than ours is left alone: somebody has put it there. */
static int open_or_make(const struct directory *directory, int home, int *ret_file)
{
	int rc = directory_open_file(directory, home, ACCOUNT_NAME, O_RDWR | O_CREAT, ret_file);

	switch (-rc) {
	case EACCES:
	case EPERM:
	case ELOOP:
	case EISDIR:
	case ENXIO:
		if (unlinkat(home, ACCOUNT_NAME, 0) < 0 && errno == EISDIR) {
			(void)unlinkat(home, ACCOUNT_NAME, AT_REMOVEDIR);
		}
		rc = directory_open_file(directory, home, ACCOUNT_NAME, O_RDWR | O_CREAT, ret_file);
		break;
	default:
		break;
	}
	if (rc == 0 && !directory_is_ours(*ret_file, ACCOUNT_MAGIC)) {
		close(*ret_file);
		*ret_file = -1;
		rc = -EPERM;
	}
	return rc;
}

static ssize_t read_page(int file, struct account_page *page)
{
	size_t done = 0;

	while (done < sizeof(*page)) {
		ssize_t got = TEMP_FAILURE_RETRY(pread(file, (char *)page + done, sizeof(*page) - done, (off_t)done));

		if (got < 0) {
			return -errno;
		}
		if (got == 0) {
			break;
		}
		done += (size_t)got;
		if (done >= page_size(0) && page->count <= ACCOUNT_RECORDS && done >= page_size(page->count)) {
			break;
		}
	}
	return (ssize_t)done;
}

static int digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* One look into v1 tells which shards exist; the others are empty. The cursor: where no account can be written, every
 * store begins anew, and not always with the same shards. */
static int begin_anew(int home, struct account_page *page)
{
	struct timespec now = {0};
	int place = TEMP_FAILURE_RETRY(openat(home, ".", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
	struct dirent *found;
	DIR *names;

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
	while ((found = readdir(names)) != NULL) {
		const char *name = found->d_name;

		if (digit(name[0]) >= 0 && digit(name[1]) >= 0 && name[2] == '\0') {
			page->shards[digit(name[0]) * 16 + digit(name[1])].known = 0;
		}
	}
	closedir(names);
	return 0;
}

int account_load(const struct directory *directory, int home, struct account **ret_account)
{
	struct account *account = malloc(sizeof(*account));
	ssize_t got = 0;
	int rc = 0;

	if (!account) {
		return -ENOMEM;
	}
	account->newest = -1;
	account->file = -1;
	if (open_or_make(directory, home, &account->file) == 0) {
		got = read_page(account->file, &account->page);
	}
	if (got < 0 || !is_sound(&account->page, (size_t)got)) {
		rc = begin_anew(home, &account->page);
	}
	if (rc < 0) {
		account_free(account);
		return rc;
	}
	*ret_account = account;
	return 0;
}

/* Who writes it meanwhile does so in one piece, within microseconds. */
int account_peek(const struct directory *directory, int home, struct account **ret_account)
{
	struct timespec pause = {.tv_nsec = 1000000};
	struct account *account = malloc(sizeof(*account));
	int rc;

	if (!account) {
		return -ENOMEM;
	}
	account->newest = -1;
	account->file = -1;
	rc = directory_open_file(directory, home, ACCOUNT_NAME, O_RDONLY, &account->file);
	for (int tries = 0; rc == 0; tries++) {
		ssize_t got = read_page(account->file, &account->page);

		if (got >= 0 && is_sound(&account->page, (size_t)got)) {
			*ret_account = account;
			return 0;
		}
		rc = tries < PEEKS_MAX ? 0 : -EBADMSG;
		(void)nanosleep(&pause, NULL);
	}
	account_free(account);
	return rc;
}

int account_save(struct account *account)
{
	struct account_page *page = &account->page;

	if (account->file < 0) {
		return -EBADF;
	}
	memcpy(page->magic, ACCOUNT_MAGIC, sizeof(page->magic));
	page->format = ACCOUNT_FORMAT;
	page->checksum = checksum_of(page);
	return output_at(account->file, 0, page, page_size(page->count));
}

void account_free(struct account *account)
{
	if (account) {
		if (account->file >= 0) {
			close(account->file);
		}
		free(account);
	}
}

void account_remove(const struct directory *directory, int home)
{
	int file;

	if (directory_open_file(directory, home, ACCOUNT_NAME, O_RDONLY, &file) == 0) {
		if (directory_is_ours(file, ACCOUNT_MAGIC)) {
			(void)unlinkat(home, ACCOUNT_NAME, 0);
		}
		close(file);
	}
}

static uint64_t add_saturated(uint64_t a, uint64_t b)
{
	return b > UINT64_MAX - a ? UINT64_MAX : a + b;
}

uint64_t account_total(const struct account *account, unsigned *ret_unknown)
{
	const struct account_shard *shards = account->page.shards;
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

int account_find(const struct account *account, const uint8_t key[ENTRY_KEY_BYTES])
{
	for (uint32_t i = 0; i < account->page.count; i++) {
		if (memcmp(account->page.records[i].key, key, ENTRY_KEY_BYTES) == 0) {
			return (int)i;
		}
	}
	return -1;
}

/* There is at least one record. */
static int newest(struct account *account)
{
	const struct account_record *records = account->page.records;

	if (account->newest < 0) {
		account->newest = 0;
		for (uint32_t i = 1; i < account->page.count; i++) {
			account->newest = records[i].used > records[account->newest].used ? (int)i : account->newest;
		}
	}
	return account->newest;
}

/* Where there is no room, the one used last has to give way, or this one if that is it. */
static void note(struct account *account, const uint8_t key[ENTRY_KEY_BYTES], uint64_t size, int64_t used)
{
	struct account_record *records = account->page.records;
	uint32_t at = account->page.count;

	if (at == ACCOUNT_RECORDS) {
		at = (uint32_t)newest(account);
		if (records[at].used <= used) {
			return;
		}
	} else {
		account->page.count++;
	}
	memcpy(records[at].key, key, ENTRY_KEY_BYTES);
	records[at].used = used;
	records[at].size = size;
	account->newest = -1;
}

static void drop(struct account *account, size_t index)
{
	account->page.records[index] = account->page.records[--account->page.count];
	account->newest = -1;
}

void account_forget(struct account *account, const uint8_t key[ENTRY_KEY_BYTES])
{
	int index = account_find(account, key);

	if (index >= 0) {
		drop(account, (size_t)index);
	}
}

static uint64_t subtract_saturated(uint64_t a, uint64_t b)
{
	return b > a ? 0 : a - b;
}

void account_put(struct account *account, const uint8_t key[ENTRY_KEY_BYTES], uint64_t size, uint64_t replaced,
                 int64_t used)
{
	struct account_shard *shard = &account->page.shards[key[0]];
	int index = account_find(account, key);

	if (index >= 0 && account->page.records[index].size == size && account->page.records[index].used == used) {
		return; /* a scan of another process was faster */
	}
	account_forget(account, key);
	shard->bytes = add_saturated(subtract_saturated(shard->bytes, replaced), size);
	shard->files += replaced == 0;
	note(account, key, size, used);
}

void account_subtract(struct account *account, const uint8_t key[ENTRY_KEY_BYTES], uint64_t size)
{
	struct account_shard *shard = &account->page.shards[key[0]];

	shard->bytes = subtract_saturated(shard->bytes, size);
	shard->files -= shard->files > 0;
	account_forget(account, key);
}

void account_begin_shard(struct account *account, unsigned shard)
{
	account->page.shards[shard] = (struct account_shard){.known = 1};
	for (size_t i = account->page.count; i-- > 0;) {
		if (account->page.records[i].key[0] == shard) {
			drop(account, i);
		}
	}
}

void account_count(struct account *account, const uint8_t key[ENTRY_KEY_BYTES], uint64_t size, int64_t used)
{
	struct account_shard *shard = &account->page.shards[key[0]];

	shard->bytes = add_saturated(shard->bytes, size);
	shard->files++;
	note(account, key, size, used);
}

void account_count_other(struct account *account, unsigned shard, uint64_t size)
{
	account->page.shards[shard].bytes = add_saturated(account->page.shards[shard].bytes, size);
}

int account_oldest(const struct account *account, uint64_t size_max)
{
	const struct account_record *records = account->page.records;
	int oldest = -1;

	for (uint32_t i = 0; i < account->page.count; i++) {
		if (records[i].size > size_max) {
			return (int)i;
		}
		oldest = oldest < 0 || records[i].used < records[oldest].used ? (int)i : oldest;
	}
	return oldest;
}

void account_set_used(struct account *account, const uint8_t key[ENTRY_KEY_BYTES], int64_t used)
{
	int index = account_find(account, key);

	if (index >= 0) {
		account->page.records[index].used = used;
		account->newest = -1;
	}
}

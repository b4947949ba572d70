/* SPDX-License-Identifier: MIT */
/*
 * Writing a record:
 *
 *   opened --> locked --room--> appended
 *      ^         |    \--full, still the journal--> renamed to journal.old ---------\
 *      |         |     \--full, already renamed by another process-------------------+--> opened again
 *      |         `--locked by another process: pause---------------------------------|
 *      `-----------------------------------------------------------------------------'
 *
 * A process appends only while it holds the lock of the file, so that two processes do not use the same room. It
 * renames only the file that it has locked, after checking that this file still has the name: otherwise it would rename
 * a new journal over the old one. Without locks both can happen: each concurrent writer may exceed the size by one
 * record, and the older half may be lost.
 */
#include "cache/journal.h"

#include "cache/agent.h"
#include "cache/calls.h"
#include "cache/lock.h"
#include "cache/output.h"

#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#define MAGIC      "NVCJRNAL"
#define FORMAT     1
#define NAME       "journal"
#define OLD_NAME   "journal.old"
#define TRIES      100
#define PAUSE_NS   50000   /* the first pause; each further pause is twice as long, up to PAUSE_MAX */
#define PAUSE_MAX  1000000 /* with TRIES, a tenth of a second in all; a record is not worth a longer wait */
#define FILE_BYTES (JOURNAL_BYTES / 2)

enum flag { FLAG_KEY = 1, FLAG_CUT = 2, FLAG_STALE = 4, FLAG_UNFIT = 8, FLAG_FAILED = 16 };

/* Little-endian in the file; the texts follow. */
struct head {
	char magic[8];
	uint32_t format;
	uint32_t size;
	uint64_t checksum; /* XXH3 of the bytes after it, seeded with XXH3 of the bytes before it */
	uint64_t when_ns;
	uint64_t cost_ns;
	uint64_t took_ns;
	uint32_t pid;
	uint8_t outcome;
	uint8_t flags;
	uint16_t reason_size;
	uint16_t detail_size;
	uint16_t about_size;
	uint8_t agent;
	uint8_t reserved;
	uint16_t refusal_size; /* 0 in records of earlier builds; those builds skip records where it is not 0 */
	uint8_t key[ENTRY_KEY_BYTES];
};

#define SUMMED_AT (offsetof(struct head, checksum) + sizeof(uint64_t))

static uint64_t checksum_of(const uint8_t *bytes, size_t size)
{
	uint64_t before = XXH3_64bits(bytes, offsetof(struct head, checksum));

	return XXH3_64bits_withSeed(bytes + SUMMED_AT, size - SUMMED_AT, before);
}

size_t journal_room(const struct journal_record *record)
{
	size_t taken = sizeof(struct head) + record->reason.size + record->detail.size + record->refusal.size;

	return taken < JOURNAL_RECORD_BYTES ? JOURNAL_RECORD_BYTES - taken : 0;
}

static uint8_t *put_text(uint8_t *at, const struct journal_text *text)
{
	if (text->size > 0) {
		memcpy(at, text->bytes, text->size);
	}
	return at + text->size;
}

/* Writes the record to `bytes`, which has room for `size` bytes. */
static void build(const struct journal_record *record, size_t size, uint8_t *bytes)
{
	struct head head = {
	    .format = htole32(FORMAT),
	    .size = htole32((uint32_t)size),
	    .when_ns = htole64(record->when_ns),
	    .cost_ns = htole64(record->cost_ns),
	    .took_ns = htole64(record->took_ns),
	    .pid = htole32(record->pid),
	    .outcome = (uint8_t)record->outcome,
	    .flags = (uint8_t)((record->has_key ? FLAG_KEY : 0) | (record->is_cut ? FLAG_CUT : 0) |
	                       (record->is_stale ? FLAG_STALE : 0) | (record->is_unfit ? FLAG_UNFIT : 0) |
	                       (record->has_failed ? FLAG_FAILED : 0)),
	    .agent = record->agent,
	    .reason_size = htole16((uint16_t)record->reason.size),
	    .detail_size = htole16((uint16_t)record->detail.size),
	    .about_size = htole16((uint16_t)record->about.size),
	    .refusal_size = htole16((uint16_t)record->refusal.size),
	};
	uint8_t *at = bytes + sizeof(head);

	memcpy(head.magic, MAGIC, sizeof(head.magic));
	memcpy(head.key, record->key, sizeof(head.key));
	memcpy(bytes, &head, sizeof(head));
	at = put_text(at, &record->reason);
	at = put_text(at, &record->detail);
	at = put_text(at, &record->about);
	(void)put_text(at, &record->refusal);
	head.checksum = htole64(checksum_of(bytes, size));
	memcpy(bytes, &head, sizeof(head));
}

/*
 * Renames a full journal, whose stat is `found`, to the old one's name, unless another process has done so. The caller
 * holds its lock. -EAGAIN: the journal was renamed, so the caller has to open it again.
 */
static int make_way(const struct directory *directory, int home, const struct stat *found)
{
	struct stat now = {0};
	int named = -1;
	bool same;

	if (directory_open_file(directory, home, NAME, O_RDONLY, &named) < 0) {
		return -EAGAIN;
	}
	same = call_fstat(named, &now) == 0 && now.st_dev == found->st_dev && now.st_ino == found->st_ino;
	call_close(named);
	return same && renameat(home, NAME, home, OLD_NAME) < 0 ? -errno : -EAGAIN;
}

/* Appends to a file that the caller has locked. -EAGAIN: the file was full and was renamed. */
static int append_locked(const struct directory *directory, int home, int file, const uint8_t *bytes, size_t size)
{
	struct stat found;

	if (call_fstat(file, &found) < 0) {
		return -errno;
	}
	if (!directory_is_ours(file, MAGIC)) {
		return -EPERM;
	}
	if ((uint64_t)found.st_size > FILE_BYTES - size) {
		return make_way(directory, home, &found);
	}
	/*
	 * O_APPEND writes at the end of the file, also if it moved since fstat(); the offset is for RLIMIT_FSIZE only
	 */
	return output_at(file, found.st_size, bytes, size);
}

static int append(const struct directory *directory, int home, const uint8_t *bytes, size_t size, long *pause_ns)
{
	int file = -1;
	int error = directory_open_file(directory, home, NAME, O_RDWR | O_CREAT | O_APPEND, &file);

	if (error != 0) {
		return error;
	}
	if (lock_bytes(file, LOCK_WHOLE, LOCK_ALONE, 0) == LOCK_HELD) {
		call_close(file);
		call_pause(*pause_ns);
		*pause_ns = 2 * *pause_ns < PAUSE_MAX ? 2 * *pause_ns : PAUSE_MAX;
		return -EAGAIN;
	}
	error = append_locked(directory, home, file, bytes, size);
	lock_release_bytes(file, LOCK_WHOLE);
	call_close(file);
	return error;
}

int journal_write(const struct directory *directory, const struct journal_record *record)
{
	size_t size =
	    sizeof(struct head) + record->reason.size + record->detail.size + record->about.size + record->refusal.size;
	long pause_ns = PAUSE_NS;
	uint8_t *bytes;
	int home = -1;
	int error;

	if (record->about.size > journal_room(record) || size > JOURNAL_RECORD_BYTES) {
		return -EINVAL;
	}
	error = directory_open(directory, DIRECTORY_REACH, &home);
	if (error != 0) {
		return error;
	}
	bytes = malloc(size);
	if (bytes) {
		build(record, size, bytes);
		error = -EAGAIN;
		for (int tries = 0; error == -EAGAIN && tries < TRIES; tries++) {
			error = append(directory, home, bytes, size, &pause_ns);
		}
		free(bytes);
	} else {
		error = -ENOMEM;
	}
	call_close(home);
	return error;
}

/* Parses the record at `at`. Returns its size, or 0 if there is no sound record. */
static size_t take_record(const uint8_t *at, size_t left, struct journal_record *ret_record)
{
	struct head head;
	size_t size, texts;

	if (left < sizeof(head)) {
		return 0;
	}
	memcpy(&head, at, sizeof(head));
	size = le32toh(head.size);
	texts = (size_t)le16toh(head.reason_size) + le16toh(head.detail_size) + le16toh(head.about_size) +
	        le16toh(head.refusal_size);
	if (memcmp(head.magic, MAGIC, sizeof(head.magic)) != 0 || le32toh(head.format) != FORMAT || size > left ||
	    size > JOURNAL_RECORD_BYTES || size != sizeof(head) + texts ||
	    le64toh(head.checksum) != checksum_of(at, size) || head.outcome < JOURNAL_STORED ||
	    head.outcome > JOURNAL_PASSED) {
		return 0;
	}
	*ret_record = (struct journal_record){
	    .when_ns = le64toh(head.when_ns),
	    .cost_ns = le64toh(head.cost_ns),
	    .took_ns = le64toh(head.took_ns),
	    .pid = le32toh(head.pid),
	    .outcome = (enum journal_outcome)head.outcome,
	    .has_key = (head.flags & FLAG_KEY) != 0,
	    .is_stale = (head.flags & FLAG_STALE) != 0,
	    .agent = head.agent < AGENT_OUTCOME_COUNT ? head.agent : (uint8_t)AGENT_FETCH_NOT_ASKED,
	    .is_unfit = (head.flags & FLAG_UNFIT) != 0,
	    .has_failed = (head.flags & FLAG_FAILED) != 0,
	    .is_cut = (head.flags & FLAG_CUT) != 0,
	    .reason = {(const char *)at + sizeof(head), le16toh(head.reason_size)},
	    .detail.size = le16toh(head.detail_size),
	    .about.size = le16toh(head.about_size),
	    .refusal.size = le16toh(head.refusal_size),
	};
	memcpy(ret_record->key, head.key, sizeof(head.key));
	ret_record->detail.bytes = ret_record->reason.bytes + ret_record->reason.size;
	ret_record->about.bytes = ret_record->detail.bytes + ret_record->detail.size;
	ret_record->refusal.bytes = ret_record->about.bytes + ret_record->about.size;
	return size;
}

int journal_parse(const void *bytes, size_t size, journal_visit *each, void *context)
{
	const uint8_t *at = bytes, *end = at + size;
	int result = 0;

	while (result == 0 && (at = memmem(at, (size_t)(end - at), MAGIC, sizeof(MAGIC) - 1)) != NULL) {
		struct journal_record record;
		size_t taken = take_record(at, (size_t)(end - at), &record);

		if (taken > 0) {
			result = each(&record, context);
		}
		at += taken > 0 ? taken : 1;
	}
	return result;
}

/*
 * Reads at most JOURNAL_BYTES into `bytes`. A file that is missing, not trusted or not a regular file counts as empty.
 */
static int read_file(const struct directory *directory, int home, const char *name, uint8_t *bytes, size_t *ret_size)
{
	ssize_t got = 1;
	size_t size = 0;
	int file = -1;
	int error = directory_open_file(directory, home, name, O_RDONLY, &file);

	*ret_size = 0;
	if (error != 0) {
		return error == -ENOENT || error == -EPERM || error == -ELOOP || error == -ENXIO || error == -EISDIR
		           ? 0
		           : error;
	}
	while (size < JOURNAL_BYTES && got > 0) {
		got = call_pread(file, bytes + size, JOURNAL_BYTES - size, (off_t)size);
		size += got > 0 ? (size_t)got : 0;
	}
	error = got < 0 ? -errno : 0;
	call_close(file);
	*ret_size = error == 0 ? size : 0;
	return error;
}

struct taking {
	struct journal journal;
	size_t room;
};

static int take(const struct journal_record *record, void *context)
{
	struct taking *taking = context;
	struct journal *journal = &taking->journal;

	if (journal->count == taking->room) {
		size_t room = taking->room ? 2 * taking->room : 64;
		void *grown = realloc(journal->records, room * sizeof(*record));

		if (!grown) {
			return -ENOMEM;
		}
		journal->records = grown;
		taking->room = room;
	}
	journal->records[journal->count++] = *record;
	return 0;
}

int journal_read(const struct directory *directory, struct journal *ret_journal)
{
	struct taking taking = {.journal.bytes = malloc(2 * JOURNAL_BYTES)};
	uint8_t *bytes = taking.journal.bytes;
	size_t old_size = 0, size = 0;
	int home = -1;
	int error = bytes ? directory_open(directory, DIRECTORY_REACH, &home) : -ENOMEM;

	if (error == 0) {
		error = read_file(directory, home, OLD_NAME, bytes, &old_size);
		error = error == 0 ? read_file(directory, home, NAME, bytes + old_size, &size) : error;
		call_close(home);
	} else if (error == -ENOENT) {
		error = 0;
	}
	if (error == 0) {
		error = journal_parse(bytes, old_size + size, take, &taking);
	}
	if (error != 0) {
		journal_free(&taking.journal);
		return error;
	}
	*ret_journal = taking.journal;
	return 0;
}

int journal_check(const struct directory *directory)
{
	int home = -1, file = -1;
	int error = directory_open(directory, DIRECTORY_REACH, &home);

	if (error == 0) {
		error = directory_open_file(directory, home, NAME, O_RDONLY, &file);
		call_close(home);
	}
	if (error == 0) {
		error = directory_is_ours(file, MAGIC) ? 0 : -EPERM;
		call_close(file);
	}
	return error == -ENOENT ? 0 : error;
}

void journal_free(struct journal *journal)
{
	free(journal->records);
	free(journal->bytes);
	*journal = (struct journal){.count = 0};
}

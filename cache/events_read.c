/* SPDX-License-Identifier: MIT */
/*
 * A record is a head, amounts, then three texts. All numbers are little-endian.
 *
 * Both files are opened before one is read, and then the name of the older one is examined again: a roll-over meanwhile
 * has replaced it, and the files that were opened may lack counts or contain them twice.
 */
#include "cache/agent_client.h"
#include "cache/calls.h"
#include "cache/events.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <xxhash.h>

#define TRIES      100
#define PAUSE_NS   20000000L
#define READ_BYTES (2 * EVENTS_BYTES) /* of a file, which has grown a little too large if many appended at once */

_Static_assert(__BYTE_ORDER == __LITTLE_ENDIAN, "records are written as they are in memory");

struct head {
	char magic[DIRECTORY_MAGIC_BYTES];
	uint64_t checksum; /* XXH3 of all that follows */
	uint32_t size;     /* of the whole record */
	uint16_t kind;
	uint16_t amounts; /* the number of amounts, which follow */
	uint64_t list;    /* identifies the list of counters */
	uint64_t when_ns, took_ns, cost_ns, carried;
	uint32_t pid;
	int32_t return_code;
	uint16_t reason, why, agent;
	uint8_t has_key, is_cut;
	uint32_t detail, refusal; /* sizes; the rest of the record is `about` */
	uint8_t key[ENTRY_KEY_BYTES];
};

_Static_assert(sizeof(struct head) == 120, "no padding; at most 128 (EVENTS_TEXT_BYTES)");

static bool is_call(enum events_kind kind)
{
	return kind >= EVENTS_STORED;
}

/* ---- one record ---- */

static size_t add_bytes(uint8_t *bytes, size_t at, const void *text, size_t size)
{
	if (size > 0) {
		memcpy(bytes + at, text, size);
	}
	return at + size;
}

static uint64_t sum_of(const uint8_t *bytes, size_t size)
{
	const size_t from = offsetof(struct head, size);

	return XXH3_64bits(bytes + from, size - from);
}

size_t events_spell(const struct events_record *record, const struct counters_amounts *amounts, uint8_t *ret_bytes)
{
	struct head head = {
	    .kind = (uint16_t)record->kind,
	    .amounts = (uint16_t)amounts->count,
	    .list = counters_list(),
	    .when_ns = record->when_ns,
	    .took_ns = record->took_ns,
	    .cost_ns = record->cost_ns,
	    .carried = record->carried,
	    .pid = record->pid,
	    .return_code = record->return_code,
	    .reason = (uint16_t)record->reason,
	    .why = (uint16_t)record->why,
	    .agent = (uint16_t)record->agent,
	    .has_key = record->has_key,
	    .is_cut = record->is_cut,
	    .detail = (uint32_t)record->detail.size,
	    .refusal = (uint32_t)record->refusal.size,
	};
	size_t size = sizeof(head);

	memcpy(head.magic, EVENTS_MAGIC, sizeof(head.magic)); /* an initializer would have one byte more */
	memcpy(head.key, record->key, sizeof(head.key));
	size = add_bytes(ret_bytes, size, amounts->list, amounts->count * sizeof(*amounts->list));
	size = add_bytes(ret_bytes, size, record->detail.bytes, record->detail.size);
	size = add_bytes(ret_bytes, size, record->refusal.bytes, record->refusal.size);
	size = add_bytes(ret_bytes, size, record->about.bytes, record->about.size);
	head.size = (uint32_t)size;
	memcpy(ret_bytes, &head, sizeof(head));
	head.checksum = sum_of(ret_bytes, size);
	memcpy(ret_bytes, &head, sizeof(head));
	return size;
}

/* Returns the next text and moves `at` behind it. */
static struct events_text take_text(const uint8_t **at, size_t size)
{
	const struct events_text text = {*at, size};

	*at += size;
	return text;
}

/* Reads the record at the beginning of `bytes`. Returns its size, or 0 if there is no sound record. */
static size_t read_record(const uint8_t *bytes, size_t size, struct events_record *ret_record)
{
	const uint8_t *at = bytes + sizeof(struct head);
	struct head head;
	size_t listed, left;

	if (size < sizeof(head)) {
		return 0;
	}
	memcpy(&head, bytes, sizeof(head));
	listed = head.amounts * sizeof(struct counters_amount);
	if (head.size > size || head.size > EVENTS_RECORD_BYTES || head.size < sizeof(head) + listed ||
	    head.list != counters_list() || head.checksum != sum_of(bytes, head.size)) {
		return 0;
	}
	left = head.size - sizeof(head) - listed;
	if (head.kind >= EVENTS_KINDS || head.reason >= COUNTER_COUNT || head.why > EVENTS_WHY_UNFIT ||
	    head.agent >= AGENT_OUTCOME_COUNT || head.detail > left || head.refusal > left - head.detail) {
		return 0;
	}
	*ret_record = (struct events_record){
	    .kind = (enum events_kind)head.kind,
	    .when_ns = head.when_ns,
	    .took_ns = head.took_ns,
	    .cost_ns = head.cost_ns,
	    .carried = head.carried,
	    .pid = head.pid,
	    .return_code = head.return_code,
	    .reason = (enum counter)head.reason,
	    .why = (enum events_why)head.why,
	    .agent = head.agent,
	    .has_key = head.has_key,
	    .is_cut = head.is_cut,
	    .whole = {bytes, head.size},
	};
	memcpy(ret_record->key, head.key, sizeof(head.key));
	ret_record->amounts = take_text(&at, listed);
	ret_record->detail = take_text(&at, head.detail);
	ret_record->refusal = take_text(&at, head.refusal);
	ret_record->about = take_text(&at, left - head.detail - head.refusal);
	return head.size;
}

bool events_next(const void *bytes, size_t size, size_t *at, struct events_record *ret_record)
{
	const uint8_t *all = bytes, *found;

	while (*at < size && (found = memmem(all + *at, size - *at, EVENTS_MAGIC, DIRECTORY_MAGIC_BYTES)) != NULL) {
		size_t begin = (size_t)(found - all), used = read_record(found, size - begin, ret_record);

		*at = begin + (used ? used : 1);
		if (used) {
			return true;
		}
	}
	*at = size;
	return false;
}

void events_add_amounts(const struct events_record *record, uint64_t counts[COUNTER_COUNT], uint64_t *since_ns)
{
	struct counters_amount amount;

	if (record->kind == EVENTS_ZERO) {
		memset(counts, 0, COUNTER_COUNT * sizeof(*counts));
		*since_ns = record->when_ns;
	}
	*since_ns = *since_ns ? *since_ns : record->when_ns;
	for (size_t at = 0; at < record->amounts.size; at += sizeof(amount)) {
		memcpy(&amount, (const uint8_t *)record->amounts.bytes + at, sizeof(amount));
		if (amount.counter < COUNTER_COUNT) {
			counts[amount.counter] = counters_sum(counts[amount.counter], amount.amount);
		}
	}
}

/* ---- the files ---- */

/* In the order of their records. */
enum { FILE_OLD, FILE_NEWEST, FILES };
static const char *const names[FILES] = {EVENTS_OLD_NAME, EVENTS_NAME};

struct opened {
	int file; /* -1: missing, not trusted or not a regular file; it counts as empty */
	bool is_missing;
	struct stat found;
	size_t begin, end; /* in the bytes of all files */
};

static int open_file(const struct directory *directory, int home, const char *name, struct opened *ret_opened)
{
	int error;

	*ret_opened = (struct opened){.file = -1};
	error = directory_open_seen(directory, home, name, O_RDONLY, &ret_opened->file, &ret_opened->found);
	ret_opened->is_missing = error == -ENOENT;
	return error == -ENOENT || error == -EPERM || error == -ELOOP || error == -ENXIO || error == -EISDIR ? 0
	                                                                                                     : error;
}

/* Returns whether the name still leads to the file that was opened, or still to none. */
static bool is_same(int home, const char *name, const struct opened *opened)
{
	struct stat found;
	bool is_there = fstatat(home, name, &found, AT_SYMLINK_NOFOLLOW) == 0;

	if (opened->file < 0) {
		return !opened->is_missing || !is_there;
	}
	return is_there && found.st_dev == opened->found.st_dev && found.st_ino == opened->found.st_ino;
}

static int open_files(const struct directory *directory, int home, struct opened *ret_files)
{
	int error = 0;

	for (size_t i = 0; i < FILES; i++) {
		ret_files[i].file = -1;
	}
	for (size_t i = 0; i < FILES && error == 0; i++) {
		error = open_file(directory, home, names[i], &ret_files[i]);
	}
	return error;
}

static void close_files(struct opened *files)
{
	for (size_t i = 0; i < FILES; i++) {
		if (files[i].file >= 0) {
			close(files[i].file);
		}
	}
}

static int read_files(struct opened *files, struct events *events)
{
	/* a large block of malloc() would change from which size on the host's own are mapped */
	uint8_t *bytes = mmap(NULL, FILES * READ_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	size_t size = 0;

	if (bytes == MAP_FAILED) {
		return -ENOMEM;
	}
	events->bytes = bytes;
	for (size_t i = 0; i < FILES; i++) {
		ssize_t got = files[i].file < 0 ? 0 : call_pread(files[i].file, bytes + size, READ_BYTES, 0);

		if (got < 0) {
			return -errno;
		}
		files[i].begin = size;
		files[i].end = size += (size_t)got;
	}
	return 0;
}

static int add_call(struct events *events, const struct events_record *record)
{
	/* grows at powers of two */
	if ((events->count & (events->count - 1)) == 0) {
		size_t most = events->count ? 2 * events->count : 1;
		struct events_record *grown = realloc(events->records, most * sizeof(*grown));

		if (!grown) {
			return -ENOMEM;
		}
		events->records = grown;
	}
	events->records[events->count++] = *record;
	return 0;
}

/*
 * Returns the id of events.old: its inode and the checksum of its first record; 0: it has none. A clock that was
 * stopped makes equal records, and a copy of the directory has other inodes.
 */
static uint64_t id_of(const struct events *events, const struct opened *old)
{
	struct events_record first;
	size_t at = old->begin;

	return events_next(events->bytes, old->end, &at, &first)
	           ? XXH3_64bits(first.whole.bytes, first.whole.size) ^ old->found.st_ino
	           : 0;
}

static bool carries(const struct events *events, const struct opened *opened, uint64_t id)
{
	struct events_record record;

	for (size_t at = opened->begin; id != 0 && events_next(events->bytes, opened->end, &at, &record);) {
		if (record.kind == EVENTS_SUMS && record.carried == id) {
			return true;
		}
	}
	return false;
}

/* Adds the counts and calls of a file: those that it carries, which are older than the others, or the others. */
enum part { CARRIED, OWN };
static int add_part(struct events *events, const struct opened *opened, enum part part)
{
	struct events_record record;
	size_t at = opened->begin;
	int error = 0;

	while (error == 0 && events_next(events->bytes, opened->end, &at, &record)) {
		if ((record.carried != 0) == (part == CARRIED)) {
			events_add_amounts(&record, events->counts, &events->since_ns);
			error = is_call(record.kind) ? add_call(events, &record) : 0;
		}
	}
	return error;
}

static int add_files(struct events *events, const struct opened *files, size_t count)
{
	int error = 0;

	events->old_id = id_of(events, &files[FILE_OLD]);
	events->old_is_carried = carries(events, &files[FILE_NEWEST], events->old_id);
	for (size_t i = events->old_is_carried ? FILE_NEWEST : FILE_OLD; i < count && error == 0; i++) {
		error = add_part(events, &files[i], CARRIED);
		error = error ? error : add_part(events, &files[i], OWN);
	}
	return error;
}

/* -EAGAIN: the files were rolled over meanwhile. */
static int read_once(const struct directory *directory, int home, size_t count, struct events *ret_events)
{
	struct events events = {.count = 0};
	struct opened files[FILES];
	int error = open_files(directory, home, files);

	if (error == 0 && !is_same(home, names[FILE_OLD], &files[FILE_OLD])) {
		error = -EAGAIN;
	}
	error = error ? error : read_files(files, &events);
	error = error ? error : add_files(&events, files, count);
	close_files(files);
	if (error != 0) {
		events_free(&events);
		return error;
	}
	*ret_events = events;
	return 0;
}

int events_read(const struct directory *directory, enum events_files files, struct events *ret_events)
{
	int home = -1;
	int error = directory->path ? directory_open(directory, DIRECTORY_REACH, &home) : -ENXIO;

	if (error == -ENOENT) {
		*ret_events = (struct events){.count = 0};
		return 0;
	}
	if (error != 0) {
		return error;
	}
	error = read_once(directory, home, files == EVENTS_ALL ? FILES : FILE_NEWEST, ret_events);
	for (int tries = 1; error == -EAGAIN && tries < TRIES; tries++) {
		if (files == EVENTS_ALL) { /* a network file system may show an earlier state for seconds */
			call_pause(PAUSE_NS);
		}
		error = read_once(directory, home, files == EVENTS_ALL ? FILES : FILE_NEWEST, ret_events);
	}
	close(home);
	return error;
}

void events_free(struct events *events)
{
	free(events->records);
	if (events->bytes) {
		(void)munmap(events->bytes, FILES * READ_BYTES);
	}
	*events = (struct events){.count = 0};
}

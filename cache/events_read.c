/* SPDX-License-Identifier: MIT */
/*
 * A record is a head, amounts, for a call the facts of struct call, then three texts. All numbers are little-endian.
 *
 * All files are opened before any is read, and then the names are examined again: a roll-over meanwhile has replaced
 * events.sums or events.old, and the files that were opened may lack counts or contain them twice.
 */
#include "cache/agent_client.h"
#include "cache/calls.h"
#include "cache/events.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#define TRIES      100
#define READ_BYTES (2 * EVENTS_BYTES) /* of a file, which has grown a little too large if many appended at once */

_Static_assert(__BYTE_ORDER == __LITTLE_ENDIAN, "records are written as they are in memory");

struct head {
	char magic[8];
	uint64_t checksum; /* XXH3 of all that follows */
	uint32_t size;     /* of the whole record */
	uint16_t kind;
	uint16_t amounts; /* the number of amounts, which follow */
	uint64_t list;    /* identifies the list of counters */
	uint64_t when_ns;
	uint64_t carried; /* EVENTS_SUMS: the id of the newest file that these sums contain */
};

struct call {
	uint64_t took_ns, cost_ns;
	uint32_t pid;
	int32_t return_code;
	uint16_t reason, why, agent;
	uint8_t has_key, is_cut;
	uint8_t key[ENTRY_KEY_BYTES];
	uint32_t detail, refusal; /* sizes; the rest of the record is `about` */
};

_Static_assert(sizeof(struct head) + sizeof(struct call) <= 128, "EVENTS_HEAD_BYTES");

static bool is_call(enum events_kind kind)
{
	return kind >= EVENTS_STORED;
}

/* ---- one record ---- */

static size_t spell_call(const struct events_record *record, uint8_t *ret_bytes)
{
	struct call call = {
	    .took_ns = record->took_ns,
	    .cost_ns = record->cost_ns,
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

	if (record->has_key) {
		memcpy(call.key, record->key, sizeof(call.key));
	}
	memcpy(ret_bytes, &call, sizeof(call));
	return sizeof(call);
}

static uint64_t chain(uint64_t sum, struct events_text text)
{
	return text.size ? XXH3_64bits_withSeed(text.bytes, text.size, sum) : sum;
}

/* Each text has a sum of its own, so that the writer need not copy it behind the others. */
static uint64_t sum_of(const uint8_t *head, size_t size, struct events_text a, struct events_text b,
                       struct events_text c)
{
	const size_t from = offsetof(struct head, size);

	return chain(chain(chain(XXH3_64bits(head + from, size - from), a), b), c);
}

size_t events_spell(const struct events_record *record, const struct counters_amounts *amounts, uint64_t carried,
                    uint8_t ret_head[EVENTS_HEAD_BYTES])
{
	struct head head = {
	    .kind = (uint16_t)record->kind,
	    .amounts = (uint16_t)amounts->count,
	    .list = counters_list(),
	    .when_ns = record->when_ns,
	    .carried = carried,
	};
	size_t size = sizeof(head), listed = amounts->count * sizeof(*amounts->list);

	memcpy(ret_head + size, amounts->list, listed);
	size += listed;
	size += is_call(record->kind) ? spell_call(record, ret_head + size) : 0;
	head.size = (uint32_t)(size + record->detail.size + record->refusal.size + record->about.size);
	memcpy(head.magic, EVENTS_MAGIC, sizeof(head.magic));
	memcpy(ret_head, &head, sizeof(head));
	head.checksum = sum_of(ret_head, size, record->detail, record->refusal, record->about);
	memcpy(ret_head, &head, sizeof(head));
	return size;
}

/* Reads the facts of a call, of which `left` bytes are there. Returns false if they cannot be. */
static bool read_call(const uint8_t *bytes, size_t left, struct events_record *record)
{
	struct call call;

	if (left < sizeof(call)) {
		return false;
	}
	memcpy(&call, bytes, sizeof(call));
	bytes += sizeof(call);
	left -= sizeof(call);
	if (call.reason >= COUNTER_COUNT || call.why > EVENTS_WHY_UNFIT || call.agent >= AGENT_OUTCOME_COUNT ||
	    call.detail > left || call.refusal > left - call.detail) {
		return false;
	}
	record->took_ns = call.took_ns;
	record->cost_ns = call.cost_ns;
	record->pid = call.pid;
	record->return_code = call.return_code;
	record->reason = (enum counter)call.reason;
	record->why = (enum events_why)call.why;
	record->agent = call.agent;
	record->has_key = call.has_key;
	record->is_cut = call.is_cut;
	memcpy(record->key, call.key, sizeof(record->key));
	record->detail = (struct events_text){bytes, call.detail};
	record->refusal = (struct events_text){bytes + call.detail, call.refusal};
	record->about = (struct events_text){bytes + call.detail + call.refusal, left - call.detail - call.refusal};
	return true;
}

/* Reads the record at the beginning of `bytes`. Returns its size, or 0 if there is no sound record. */
static size_t read_record(const uint8_t *bytes, size_t size, struct events_record *ret_record)
{
	struct events_record record = {0};
	struct head head;
	size_t listed, fixed;

	if (size < sizeof(head)) {
		return 0;
	}
	memcpy(&head, bytes, sizeof(head));
	listed = head.amounts * sizeof(struct counters_amount);
	fixed = sizeof(head) + listed;
	if (head.size > size || head.size > EVENTS_RECORD_BYTES || head.size < fixed || head.kind >= EVENTS_KINDS ||
	    head.list != counters_list()) {
		return 0;
	}
	record.kind = (enum events_kind)head.kind;
	record.when_ns = head.when_ns;
	record.amounts = (struct events_text){bytes + sizeof(head), listed};
	record.whole = (struct events_text){bytes, head.size};
	if (is_call(record.kind)) {
		if (!read_call(bytes + fixed, head.size - fixed, &record)) {
			return 0;
		}
		fixed += sizeof(struct call);
	} else if (head.size > fixed) {
		return 0;
	}
	if (head.checksum != sum_of(bytes, fixed, record.detail, record.refusal, record.about)) {
		return 0;
	}
	*ret_record = record;
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

static struct head head_of(const struct events_record *record)
{
	struct head head;

	memcpy(&head, record->whole.bytes, sizeof(head));
	return head;
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
enum { FILE_SUMS, FILE_OLD, FILE_NEWEST, FILES };
static const char *const names[FILES] = {EVENTS_SUMS_NAME, EVENTS_OLD_NAME, EVENTS_NAME};

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
	bool is_there = call_fstatat(home, name, &found, AT_SYMLINK_NOFOLLOW) == 0;

	if (opened->file < 0) {
		return !opened->is_missing || !is_there;
	}
	return is_there && found.st_dev == opened->found.st_dev && found.st_ino == opened->found.st_ino;
}

static int open_files(const struct directory *directory, int home, size_t count, struct opened *ret_files)
{
	int error = 0;

	for (size_t i = 0; i < FILES; i++) {
		ret_files[i].file = -1;
	}
	for (size_t i = 0; i < count && error == 0; i++) {
		error = open_file(directory, home, names[i], &ret_files[i]);
	}
	return error;
}

static void close_files(struct opened *files)
{
	for (size_t i = 0; i < FILES; i++) {
		if (files[i].file >= 0) {
			call_close(files[i].file);
		}
	}
}

static int read_files(struct opened *files, struct events *events)
{
	uint8_t *bytes = malloc(FILES * READ_BYTES);
	size_t size = 0;

	events->bytes = bytes;
	for (size_t i = 0; i < FILES && bytes; i++) {
		ssize_t got = files[i].file < 0 ? 0 : call_pread(files[i].file, bytes + size, READ_BYTES, 0);

		if (got < 0) {
			return -errno;
		}
		files[i].begin = size;
		files[i].end = size += (size_t)got;
	}
	return bytes ? 0 : -ENOMEM;
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
 * Returns the id of the file: its inode and the checksum of its first record; 0: it has none. A clock that was stopped
 * makes equal records, and a copy of the directory has other inodes.
 */
static uint64_t id_of(const struct events *events, const struct opened *opened, struct events_record *ret_first)
{
	size_t at = opened->begin;

	return events_next(events->bytes, opened->end, &at, ret_first)
	           ? head_of(ret_first).checksum ^ opened->found.st_ino
	           : 0;
}

/* Adds the counts and calls of a file. Of events.sums, only its first record has counts. */
static int add_file(struct events *events, const struct opened *opened, bool is_sums)
{
	struct events_record record;
	size_t at = opened->begin;
	int error = 0;

	while (error == 0 && events_next(events->bytes, opened->end, &at, &record)) {
		if (!is_sums || record.kind == EVENTS_SUMS) {
			events_add_amounts(&record, events->counts, &events->since_ns);
		}
		error = is_call(record.kind) ? add_call(events, &record) : 0;
	}
	return error;
}

static int add_files(struct events *events, struct opened *files)
{
	struct events_record first;
	uint64_t carried =
	    id_of(events, &files[FILE_SUMS], &first) && first.kind == EVENTS_SUMS ? head_of(&first).carried : 0;
	int error = 0;

	events->old_id = id_of(events, &files[FILE_OLD], &first);
	events->old_is_carried = carried != 0 && carried == events->old_id;
	for (size_t i = 0; i < FILES && error == 0; i++) {
		if (i != FILE_OLD || !events->old_is_carried) {
			error = add_file(events, &files[i], i == FILE_SUMS);
		}
	}
	return error;
}

/* -EAGAIN: the files were rolled over meanwhile. */
static int read_once(const struct directory *directory, int home, size_t count, struct events *ret_events)
{
	struct events events = {.count = 0};
	struct opened files[FILES];
	int error = open_files(directory, home, count, files);

	if (error == 0 && (!is_same(home, names[FILE_SUMS], &files[FILE_SUMS]) ||
	                   !is_same(home, names[FILE_OLD], &files[FILE_OLD]))) {
		error = -EAGAIN;
	}
	error = error ? error : read_files(files, &events);
	error = error ? error : add_files(&events, files);
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
	error = -EAGAIN;
	for (int tries = 0; error == -EAGAIN && tries < TRIES; tries++) {
		error = read_once(directory, home, files == EVENTS_ALL ? FILES : FILE_NEWEST, ret_events);
	}
	call_close(home);
	return error;
}

void events_free(struct events *events)
{
	free(events->records);
	free(events->bytes);
	*events = (struct events){.count = 0};
}

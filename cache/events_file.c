/* SPDX-License-Identifier: MIT */
/*
 * A record is appended by a few system calls if this process has already opened the file through trusted directories:
 * it is opened by its whole path then, and must be the same file (device and inode) as before.
 *
 * Rolling over, under a lock on the file that has the name `events`:
 *
 *     read events.old --> append its counts and newest calls to events --> rename events to events.old
 *
 * If events has such counts already, another process died before the last step, and only that is done. Without locks
 * (some network file systems have none) two processes may do this at once, and counts may be lost or doubled.
 *
 * The newest file is opened first, and read after events.old was opened. A roll-over appends the sums of what is older
 * to a file before it renames that. So if the newest file was rolled over meanwhile, it has sums, and what was opened
 * as events.old is not counted: the result is the state just before the rename.
 */
#include "cache/calls.h"
#include "cache/events.h"
#include "cache/lock.h"
#include "cache/output.h"

#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <xxhash.h>

#define READ_BYTES (2 * EVENTS_BYTES) /* of a file, which has grown a little too large if many appended at once */

/* ---- reading ---- */

enum { FILE_NEWEST, FILE_OLD, FILES };
static const char *const names[FILES] = {EVENTS_NAME, EVENTS_OLD_NAME};

struct mapping {
	struct events_record records[FILES * READ_BYTES / EVENTS_HEAD_BYTES]; /* of calls */
	size_t sizes[FILES];
	uint8_t bytes[FILES][READ_BYTES];
};

/* Opens all files, then reads them. A file that is missing, not trusted or not a regular one counts as empty. */
static int read_files(const struct directory *directory, int home, struct mapping *mapping, bool *ret_foreign)
{
	int files[FILES], error = 0;

	for (size_t i = 0; i < FILES; i++) {
		int opened = directory_open_file(directory, home, names[i], O_RDONLY, &files[i], NULL);
		bool is_ours = opened == 0 ? directory_is_ours(files[i], EVENTS_MAGIC) : opened == -ENOENT;

		*ret_foreign |= !is_ours;
		files[i] = opened == 0 ? files[i] : -1;
		error = is_ours || opened == 0 || opened == -EPERM || opened == -ELOOP || opened == -ENXIO ||
		                opened == -EISDIR
		            ? error
		            : opened;
	}
	for (size_t i = 0; i < FILES; i++) {
		ssize_t got = files[i] < 0 ? 0 : call_pread(files[i], mapping->bytes[i], READ_BYTES, 0);

		error = got < 0 ? -errno : error;
		mapping->sizes[i] = got < 0 ? 0 : (size_t)got;
		call_close(files[i]);
	}
	return error;
}

/* Whether a record is of the file itself, or was copied from those before it: is_carried of the record. */
enum origin { ORIGIN_OWN, ORIGIN_CARRIED };

/* Adds the records of that origin. Returns whether the sums were among them. */
static bool add_records(struct events *events, const struct mapping *mapping, size_t file, enum origin origin)
{
	struct events_record record;
	bool have_sums = false;

	for (size_t at = 0; events_next(mapping->bytes[file], mapping->sizes[file], &at, &record);) {
		if ((record.is_carried ? ORIGIN_CARRIED : ORIGIN_OWN) == origin) {
			have_sums |= record.kind == EVENTS_SUMS;
			events_add_amounts(&record, events->counts, &events->since_ns);
			if (record.kind >= EVENTS_STORED) {
				events->records[events->count++] = record;
			}
		}
	}
	return have_sums;
}

int events_read(const struct directory *directory, enum events_files files, struct events *ret_events)
{
	struct mapping *mapping;
	int home = -1;
	int error = directory->path ? directory_open(directory, DIRECTORY_REACH, &home) : -ENXIO;

	*ret_events = (struct events){.count = 0};
	if (error != 0) {
		return error == -ENOENT ? 0 : error;
	}
	/* a large block of malloc() would change from which size on the host's own are mapped */
	mapping = mmap(NULL, sizeof(*mapping), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	error = mapping == MAP_FAILED ? -ENOMEM : read_files(directory, home, mapping, &ret_events->has_foreign);
	close(home);
	if (mapping != MAP_FAILED) {
		ret_events->records = mapping->records;
	}
	if (error != 0) {
		events_free(ret_events);
		return error;
	}
	/* what is carried is older than what a file has of its own */
	ret_events->old_is_carried = add_records(ret_events, mapping, FILE_NEWEST, ORIGIN_CARRIED);
	if (!ret_events->old_is_carried) {
		(void)add_records(ret_events, mapping, FILE_OLD, ORIGIN_CARRIED);
		(void)add_records(ret_events, mapping, FILE_OLD, ORIGIN_OWN);
	}
	if (files == EVENTS_ALL) {
		(void)add_records(ret_events, mapping, FILE_NEWEST, ORIGIN_OWN);
		counters_add_shares(ret_events->counts);
	}
	return 0;
}

void events_free(struct events *events)
{
	if (events->records) {
		(void)munmap(events->records, sizeof(struct mapping));
	}
	*events = (struct events){.count = 0};
}

/* ---- rolling over ---- */

/*
 * Appends the counts of events.old, with those that it carries, and its newest calls. `file` is the newest file, which
 * was read too, and whose bytes are no longer needed.
 */
static int carry_past(int file, const struct events *past)
{
	struct events_record sums = {.kind = EVENTS_SUMS, .when_ns = past->since_ns, .is_carried = true};
	uint8_t *bytes = ((struct mapping *)past->records)->bytes[FILE_NEWEST];
	struct counters_amount amounts[COUNTER_COUNT];
	size_t first = past->count, count = 0, room, size;

	for (size_t i = 0; i < COUNTER_COUNT; i++) {
		if (past->counts[i] != 0) {
			amounts[count++] = (struct counters_amount){i, past->counts[i]};
		}
	}
	sums.parts[EVENTS_AMOUNTS] = (struct events_text){amounts, count * sizeof(amounts[0])};
	size = events_spell(&sums, bytes);
	room = EVENTS_CARRIED_BYTES - size;
	while (first > 0 && past->records[first - 1].size <= room) {
		room -= past->records[--first].size;
	}
	for (; first < past->count; first++) {
		past->records[first].is_carried = true;
		past->records[first].parts[EVENTS_AMOUNTS].size = 0; /* they are in the sums */
		size += events_spell(&past->records[first], bytes + size);
	}
	return output_line(file, bytes, size);
}

static int roll_locked(const struct directory *directory, int home, int file)
{
	struct events past;
	int error = events_read(directory, EVENTS_PAST, &past);

	if (error != 0) {
		return error;
	}
	error = past.has_foreign ? -EPERM : past.old_is_carried ? 0 : carry_past(file, &past);
	events_free(&past);
	return error == 0 && renameat(home, EVENTS_NAME, home, EVENTS_OLD_NAME) < 0 ? -errno : error;
}

/*
 * Returns whether events.old has its name for EVENTS_GRACE_NS, so that no process is about to append to it. A rename
 * sets the ctime.
 */
static bool is_ripe(int home)
{
	struct stat found;
	int64_t age_ns;

	if (fstatat(home, EVENTS_OLD_NAME, &found, AT_SYMLINK_NOFOLLOW) < 0) {
		return true;
	}
	age_ns = call_clock_ns(CLOCK_REALTIME) - found.st_ctim.tv_sec * INT64_C(1000000000) - found.st_ctim.tv_nsec;
	return age_ns < 0 || age_ns >= EVENTS_GRACE_NS;
}

/* Rolls the open file over, unless another process does so or has just done so. Returns whether it was rolled over. */
static bool roll_over(const struct directory *directory, int file, const struct stat *found)
{
	struct stat named;
	bool rolled = false;
	int home;

	if (directory_open(directory, DIRECTORY_REACH, &home) != 0) {
		return false;
	}
	if (is_ripe(home) && lock_bytes(file, LOCK_WHOLE, 0) != LOCK_HELD) {
		bool is_newest =
		    fstatat(home, EVENTS_NAME, &named, AT_SYMLINK_NOFOLLOW) == 0 && named.st_ino == found->st_ino;

		rolled = !is_newest || roll_locked(directory, home, file) == 0;
		lock_release_bytes(file, LOCK_WHOLE);
	}
	close(home);
	return rolled;
}

/* ---- appending ---- */

/* Includes owner and mode. A second hard link would make another file of it. */
static uint64_t identity_of(const struct stat *found)
{
	const uint64_t parts[] = {found->st_dev, found->st_ino, (uint64_t)found->st_uid << 32 | found->st_mode,
	                          found->st_nlink > 1};

	return XXH3_64bits(parts, sizeof(parts)) | 1;
}

/* -EAGAIN: the path leads to another file than the known one, or to none. */
static int open_known(const struct events_place *place, int *ret_file, struct stat *ret_found)
{
	const uint64_t known = atomic_load_explicit(&place->known, memory_order_relaxed);
	int file = -1;

	if (known != 0) {
		file = call_openat(AT_FDCWD, place->path,
		                   O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0);
	}
	if (file >= 0 && (fstat(file, ret_found) < 0 || identity_of(ret_found) != known)) {
		close(file);
		file = -1;
	}
	*ret_file = file;
	return file < 0 ? -EAGAIN : 0;
}

static int open_trusted(struct events_place *place, int *ret_file, struct stat *ret_found)
{
	const struct directory *directory = &place->directory;
	const enum directory_want want =
	    atomic_load_explicit(&place->known, memory_order_relaxed) == 0 ? DIRECTORY_MAKE : DIRECTORY_REACH;
	const char *name = DIRECTORY_HOME "/" EVENTS_NAME;
	int at = -1;
	int error = directory_open_root(directory, NULL, &at);

	if (error == -EOPNOTSUPP || (error == -ENOENT && want == DIRECTORY_MAKE)) {
		name = EVENTS_NAME;
		error = directory_open(directory, want, &at);
	}
	if (error != 0) {
		return error;
	}
	error = directory_open_file(directory, at, name, O_RDWR | O_CREAT | O_APPEND, ret_file, ret_found);
	close(at);
	if (error == 0 && !directory_is_ours(*ret_file, EVENTS_MAGIC)) {
		close(*ret_file);
		return -EPERM;
	}
	if (error == 0) {
		atomic_store_explicit(&place->known, identity_of(ret_found), memory_order_relaxed);
	}
	return error;
}

static int append_bytes(struct events_place *place, const void *bytes, size_t size, off_t most)
{
	struct stat found;
	bool again = true;
	int error = 0, file;
	off_t after; /* the size of the file with these bytes */

	for (int tries = 0; tries < 2 && again; tries++) {
		error = open_known(place, &file, &found);
		error = error ? open_trusted(place, &file, &found) : 0;
		if (error != 0) {
			return error;
		}
		after = found.st_size + (off_t)size;
		error = after > most ? -EFBIG : output_line(file, bytes, size);
		again = after > (off_t)EVENTS_ROLL && roll_over(&place->directory, file, &found) && after > most;
		close(file);
	}
	return error;
}

int events_append(struct events_place *place, const struct events_record *record, enum events_when when)
{
	size_t size = EVENTS_HEAD_BYTES;
	uint8_t *bytes;
	int error;

	for (size_t i = 0; i < EVENTS_PARTS; i++) {
		size += record->parts[i].size;
	}
	if (size > EVENTS_RECORD_BYTES) {
		return -EFBIG;
	}
	bytes = malloc(size);
	if (!bytes) {
		return -ENOMEM;
	}
	error = append_bytes(place, bytes, events_spell(record, bytes),
	                     when == EVENTS_NOW ? EVENTS_BYTES : EVENTS_BYTES - EVENTS_SPARE);
	free(bytes);
	return error;
}

int events_zero(const struct directory *directory)
{
	const struct events_record record = {.kind = EVENTS_ZERO, .when_ns = (uint64_t)call_clock_ns(CLOCK_REALTIME)};
	struct events_place place = {.directory = *directory, .known = 1}; /* no file: nothing is created */
	int error = events_append(&place, &record, EVENTS_NOW);

	return error == -ENOENT ? 0 : error; /* there is no directory, and so nothing to set to zero */
}

/* SPDX-License-Identifier: MIT */
/*
 * A record is appended by a few system calls if this process has already opened the file through trusted directories:
 * it is opened by its whole path then, and must be the same file (device and inode) as before.
 *
 * Rolling over, under a lock on the file that has the name `events`:
 *
 *     read events.old --> append its counts and newest calls to events --> rename events to events.old
 *
 * If events already carries events.old, another process died before the last step, and only that is done. Without locks
 * (some network file systems have none) two processes may do this at once, and counts may be lost or doubled.
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

/* ---- rolling over ---- */

/* Appends the counts of events.old, with those that it carries, and its newest calls. `file` is the newest file. */
static int carry_past(int file, const struct events *past)
{
	struct events_record sums = {.kind = EVENTS_SUMS, .when_ns = past->since_ns, .carried = past->old_id};
	struct counters_amounts amounts = {.count = 0};
	uint8_t *bytes = malloc(EVENTS_CARRIED_BYTES);
	size_t first = past->count, room, size;
	int error;

	if (!bytes) {
		return -ENOMEM;
	}
	for (size_t i = 0; i < COUNTER_COUNT; i++) {
		if (past->counts[i] != 0) {
			amounts.list[amounts.count++] = (struct counters_amount){i, past->counts[i]};
		}
	}
	size = events_spell(&sums, &amounts, bytes);
	room = EVENTS_CARRIED_BYTES - size;
	while (first > 0 && past->count - first < EVENTS_CARRIED && past->records[first - 1].whole.size <= room) {
		room -= past->records[--first].whole.size;
	}
	amounts.count = 0; /* those of the calls are in the sums */
	for (; first < past->count; first++) {
		past->records[first].carried = past->old_id;
		size += events_spell(&past->records[first], &amounts, bytes + size);
	}
	error = output_line(file, bytes, size);
	free(bytes);
	return error;
}

/* Returns whether the name is free, or that of a file of ours, which may be replaced. */
static bool may_replace(const struct directory *directory, int home, const char *name)
{
	int file = -1;
	int error = directory_open_file(directory, home, name, O_RDONLY, &file);
	bool is_ours = error == -ENOENT || (error == 0 && directory_is_ours(file, EVENTS_MAGIC));

	if (file >= 0) {
		close(file);
	}
	return is_ours;
}

/* Returns the name of a file that is not of the record, or NULL. */
static const char *find_foreign(const struct directory *directory, int home)
{
	return !may_replace(directory, home, EVENTS_NAME)       ? EVENTS_NAME
	       : !may_replace(directory, home, EVENTS_OLD_NAME) ? EVENTS_OLD_NAME
	                                                        : NULL;
}

const char *events_foreign(const struct directory *directory)
{
	const char *name = NULL;
	int home;

	if (directory_open(directory, DIRECTORY_REACH, &home) == 0) {
		name = find_foreign(directory, home);
		close(home);
	}
	return name;
}

static int roll_locked(const struct directory *directory, int home, int file)
{
	struct events past;
	int error = find_foreign(directory, home) ? -EPERM : 0;

	error = error ? error : events_read(directory, EVENTS_PAST, &past);
	if (error != 0) {
		return error;
	}
	if (past.old_id != 0 && !past.old_is_carried) {
		error = carry_past(file, &past);
	}
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

/* Rolls the file over, unless another process does so or has just done so. */
static int roll_over(const struct directory *directory)
{
	struct stat found, named;
	int home = -1, file = -1;
	int error = directory_open(directory, DIRECTORY_REACH, &home);

	if (error != 0) {
		return error;
	}
	error = directory_open_seen(directory, home, EVENTS_NAME, O_RDWR | O_APPEND, &file, &found);
	if (error == 0 && found.st_size > (off_t)EVENTS_ROLL && is_ripe(home) &&
	    lock_bytes(file, LOCK_WHOLE, 0) != LOCK_HELD) {
		bool is_newest =
		    fstatat(home, EVENTS_NAME, &named, AT_SYMLINK_NOFOLLOW) == 0 && named.st_ino == found.st_ino;

		error = is_newest ? roll_locked(directory, home, file) : 0;
		lock_release_bytes(file, LOCK_WHOLE);
	}
	if (file >= 0) {
		close(file);
	}
	close(home);
	return error;
}

/* ---- appending ---- */

/* The file to which this process appended last, after it was opened through trusted directories. */
static struct {
	_Atomic uint64_t device, inode, rights;
} known;

/* Owner and mode of the file. A second hard link would make another file of it. */
static uint64_t rights_of(const struct stat *found)
{
	return (uint64_t)found->st_uid << 32 | found->st_mode | (uint64_t)(found->st_nlink > 1) << 31;
}

/* -EAGAIN: the path leads to another file, or to none. */
static int open_known(const struct directory *directory, int *ret_file, struct stat *ret_found)
{
	static const char rest[] = "/" DIRECTORY_HOME "/" EVENTS_NAME;
	char path[PATH_MAX];
	size_t length = strlen(directory->path);
	int file = -1;

	if (length + sizeof(rest) > sizeof(path) || atomic_load_explicit(&known.inode, memory_order_relaxed) == 0) {
		return -EAGAIN;
	}
	memcpy(path, directory->path, length);
	memcpy(path + length, rest, sizeof(rest));
	file = call_openat(AT_FDCWD, path, O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0);
	if (file < 0) {
		return -EAGAIN;
	}
	if (fstat(file, ret_found) < 0 ||
	    ret_found->st_dev != atomic_load_explicit(&known.device, memory_order_relaxed) ||
	    ret_found->st_ino != atomic_load_explicit(&known.inode, memory_order_relaxed) ||
	    rights_of(ret_found) != atomic_load_explicit(&known.rights, memory_order_relaxed)) {
		close(file);
		return -EAGAIN;
	}
	*ret_file = file;
	return 0;
}

static int open_trusted(const struct directory *directory, enum events_want want, int *ret_file, struct stat *ret_found)
{
	const char *name = DIRECTORY_HOME "/" EVENTS_NAME;
	int place = -1;
	int error = directory_open_root(directory, NULL, &place);

	if (error == -EOPNOTSUPP || (error == -ENOENT && want == EVENTS_MAKE)) {
		name = EVENTS_NAME;
		error = directory_open(directory, want == EVENTS_MAKE ? DIRECTORY_MAKE : DIRECTORY_REACH, &place);
	}
	if (error != 0) {
		return error;
	}
	error = directory_open_seen(directory, place, name, O_RDWR | O_CREAT | O_APPEND, ret_file, ret_found);
	close(place);
	if (error == 0 && !directory_is_ours(*ret_file, EVENTS_MAGIC)) {
		close(*ret_file);
		return -EPERM;
	}
	if (error == 0) {
		atomic_store_explicit(&known.device, ret_found->st_dev, memory_order_relaxed);
		atomic_store_explicit(&known.inode, ret_found->st_ino, memory_order_relaxed);
		atomic_store_explicit(&known.rights, rights_of(ret_found), memory_order_relaxed);
	}
	return error;
}

/* -EFBIG: the file would have more than `most` bytes. `ret_size`: the size of the file with the record. */
static int append_once(const struct directory *directory, const void *bytes, size_t size, enum events_want want,
                       size_t most, uint64_t *ret_size)
{
	struct stat found;
	int file = -1;
	int error = open_known(directory, &file, &found);

	error = error ? open_trusted(directory, want, &file, &found) : 0;
	if (error != 0) {
		return error;
	}
	*ret_size = (uint64_t)found.st_size + size;
	error = *ret_size > most ? -EFBIG : output_line(file, bytes, size);
	close(file);
	return error;
}

int events_append(const struct directory *directory, const struct events_record *record,
                  const struct counters_amounts *amounts, enum events_want want, enum events_when when)
{
	const size_t most = when == EVENTS_NOW ? EVENTS_BYTES : EVENTS_BYTES - EVENTS_SPARE;
	/* a hit has no texts, and a host's thread may have a small stack */
	uint8_t without_texts[EVENTS_RECORD_BYTES - EVENTS_TEXT_BYTES], *bytes = without_texts;
	size_t texts = record->detail.size + record->refusal.size + record->about.size, size;
	uint64_t new_size = 0;
	int error;

	if (texts > EVENTS_TEXT_BYTES) {
		return -EFBIG;
	}
	if (texts > 0) {
		bytes = malloc(sizeof(without_texts) + texts);
	}
	if (!bytes) {
		return -ENOMEM;
	}
	size = events_spell(record, amounts, bytes);
	error = append_once(directory, bytes, size, want, most, &new_size);
	if (new_size > EVENTS_ROLL) {
		(void)roll_over(directory);
	}
	if (new_size > most) {
		error = append_once(directory, bytes, size, want, most, &new_size);
	}
	if (bytes != without_texts) {
		free(bytes);
	}
	return error;
}

int events_zero(const struct directory *directory)
{
	const struct events_record record = {.kind = EVENTS_ZERO, .when_ns = (uint64_t)call_clock_ns(CLOCK_REALTIME)};
	const struct counters_amounts none = {.count = 0};
	int error = events_append(directory, &record, &none, EVENTS_FIND, EVENTS_NOW);

	return error == -ENOENT ? 0 : error; /* there is no directory, and so nothing to set to zero */
}

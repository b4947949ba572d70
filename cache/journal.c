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

#include "cache/calls.h"
#include "cache/lock.h"
#include "cache/output.h"

#include <errno.h>
#include <stdio.h>

#define EARLIER_MAGIC "NVCJRNAL"
#define TRIES         100
#define PAUSE_NS      50000   /* the first pause; each further pause is twice as long, up to PAUSE_MAX */
#define PAUSE_MAX     1000000 /* with TRIES, a tenth of a second in all; a record is not worth a longer wait */
#define FILE_BYTES    (JOURNAL_BYTES / 2)

/*
 * Renames a full journal, whose stat is `found`, to the old one's name, unless another process has done so. The caller
 * holds its lock. -EAGAIN: the journal was renamed, so the caller has to open it again.
 */
static int make_way(const struct directory *directory, int home, const struct stat *found)
{
	struct stat now = {0};
	int named = -1;
	bool same;

	if (directory_open_file(directory, home, JOURNAL_NAME, O_RDONLY, &named) < 0) {
		return -EAGAIN;
	}
	same = call_fstat(named, &now) == 0 && now.st_dev == found->st_dev && now.st_ino == found->st_ino;
	call_close(named);
	return same && renameat(home, JOURNAL_NAME, home, JOURNAL_OLD_NAME) < 0 ? -errno : -EAGAIN;
}

/* Returns 0; -EPERM: the file is not ours; -ENOTSUP: it is a journal of the earlier format. */
static int check_format(int file)
{
	if (directory_is_ours(file, JOURNAL_BEGINNING)) {
		return 0;
	}
	return directory_is_ours(file, EARLIER_MAGIC) ? -ENOTSUP : -EPERM;
}

/* Appends to a file that the caller has locked. -EAGAIN: the file was renamed, because it has no room for the line. */
static int append_locked(const struct directory *directory, int home, int file, const char *line, size_t size)
{
	struct stat found;
	int error;

	if (call_fstat(file, &found) < 0) {
		return -errno;
	}
	error = check_format(file);
	if (error == -EPERM) {
		return error;
	}
	if (error == -ENOTSUP || (uint64_t)found.st_size > FILE_BYTES - size) {
		return make_way(directory, home, &found);
	}
	/*
	 * O_APPEND writes at the end of the file, also if it moved since fstat(); the offset is for RLIMIT_FSIZE only
	 */
	return output_at(file, found.st_size, line, size);
}

static int append_once(const struct directory *directory, int home, const char *line, size_t size, long *pause_ns)
{
	int file = -1;
	int error = directory_open_file(directory, home, JOURNAL_NAME, O_RDWR | O_CREAT | O_APPEND, &file);

	if (error != 0) {
		return error;
	}
	if (lock_bytes(file, LOCK_WHOLE, LOCK_ALONE, 0) == LOCK_HELD) {
		call_close(file);
		call_pause(*pause_ns);
		*pause_ns = 2 * *pause_ns < PAUSE_MAX ? 2 * *pause_ns : PAUSE_MAX;
		return -EAGAIN;
	}
	error = append_locked(directory, home, file, line, size);
	lock_release_bytes(file, LOCK_WHOLE);
	call_close(file);
	return error;
}

int journal_write(const struct directory *directory, const char *line, size_t size)
{
	long pause_ns = PAUSE_NS;
	int home = -1;
	int error;

	if (size == 0 || size > JOURNAL_RECORD_BYTES) {
		return -EINVAL;
	}
	error = directory_open(directory, DIRECTORY_REACH, &home);
	if (error != 0) {
		return error;
	}
	error = -EAGAIN;
	for (int tries = 0; error == -EAGAIN && tries < TRIES; tries++) {
		error = append_once(directory, home, line, size, &pause_ns);
	}
	call_close(home);
	return error;
}

int journal_check(const struct directory *directory)
{
	int home = -1, file = -1;
	int error = directory_open(directory, DIRECTORY_REACH, &home);

	if (error == 0) {
		error = directory_open_file(directory, home, JOURNAL_NAME, O_RDONLY, &file);
		call_close(home);
	}
	if (error == 0) {
		error = check_format(file) == -EPERM ? -EPERM : 0;
		call_close(file);
	}
	return error == -ENOENT ? 0 : error;
}

/* SPDX-License-Identifier: MIT */
#include "cache/compile_lock_file.h"

#include "cache/calls.h"
#include "cache/holder.h"
#include "cache/lock.h"
#include "cache/output.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define FILE_NAME    "compile-lock"
#define FILE_MAGIC   "NVCFLYER"
#define MS           INT64_C(1000000)
#define PAUSE_MIN    (1 * MS)
#define PAUSE_MAX    (50 * MS)
#define NOT_KEPT_FOR (60000 * MS)
#define SLOTS        4095 /* after the magic, which takes the place of slot 0 */
#define RANGE_BITS   (HOLDER_CODE_BITS + 1)
#define ROOM         256

/* Says that a result of the key was not cached. */
struct note {
	uint64_t tag;
	int64_t when; /* CLOCK_MONOTONIC, ns */
};

/*
 * Returns true if the descriptor still refers to our open file. A host may close descriptors that it does not know and
 * reuse the number. If the file system cannot answer, the file position decides, because a descriptor that is never
 * closed keeps its lock for the life of the host.
 */
static bool is_ours(const struct compile_lock_file *file)
{
	struct stat found;

	if (file->fd < 0 || lseek(file->fd, 0, SEEK_CUR) != file->stamp) {
		return false;
	}
	if (fstat(file->fd, &found) < 0) {
		return errno != EBADF;
	}
	return found.st_dev == file->device && found.st_ino == file->inode;
}

/*
 * Returns whether at least ROOM descriptors remain. A holder has its descriptor open while the compiler works, which
 * opens several files at once (NVRTC: one per level of inclusion) and would fail if we had used the last descriptor.
 */
static bool leaves_room(int fd)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_NOFILE, &limit) == 0 && (rlim_t)fd + ROOM < limit.rlim_cur;
}

/* Closes the home at once, so that one descriptor is open during a compilation, not two. */
static int open_path(const struct directory *directory)
{
	int home = -1;
	int fd = -1;

	if (directory_open(directory, DIRECTORY_MAKE, &home) < 0) {
		return -1;
	}
	if (directory_open_file(directory, home, FILE_NAME, O_RDWR | O_CREAT, &fd) < 0) {
		fd = -1;
	}
	close(home);
	if (fd >= 0 && !leaves_room(fd)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/*
 * Returns whether the file is ours, and writes the magic to a new file. A file of another program is not used. Checked
 * at each open, because a user may have replaced the file meanwhile.
 */
static bool has_magic(int fd)
{
	char magic[DIRECTORY_MAGIC_BYTES];

	if (pread(fd, magic, sizeof(magic), 0) == (ssize_t)sizeof(magic) &&
	    memcmp(magic, FILE_MAGIC, sizeof(magic)) == 0) {
		return true;
	}
	if (!directory_is_ours(fd, FILE_MAGIC)) {
		return false;
	}
	(void)output_at(fd, 0, FILE_MAGIC, sizeof(magic)); /* without a magic the lock still works */
	return true;
}

/*
 * Opens the file and computes the key's range and tag. The stamp, a file position that nothing else uses, distinguishes
 * our open file description from another one of the same file that the host may have opened under the same number.
 */
static bool open_file(struct compile_lock_file *file, const struct directory *directory,
                      const uint8_t key[ENTRY_KEY_BYTES])
{
	static atomic_uint stamps;
	/* a host that runs without its standard streams would write its output to our file */
	int fd = call_move_away(open_path(directory));
	struct stat found;
	uint32_t range;

	if (fd < 0) {
		return false;
	}
	file->stamp = (off_t)(atomic_fetch_add_explicit(&stamps, 1, memory_order_relaxed) & 0x3fffffff) + 1;
	if (!has_magic(fd) || fstat(fd, &found) < 0 || lock_is_remote(fd) ||
	    lseek(fd, file->stamp, SEEK_SET) != file->stamp) {
		close(fd);
		return false;
	}
	file->device = found.st_dev;
	file->inode = found.st_ino;
	memcpy(&range, key, sizeof(range));
	memcpy(&file->tag, key + sizeof(range), sizeof(file->tag));
	file->place = ((off_t)(range >> 1) + 1) << RANGE_BITS; /* the magic and the notes are before the first range */
	file->fd = fd;                                         /* last, because a child that is forked now closes it */
	return true;
}

static off_t place_note(const struct compile_lock_file *file)
{
	return (off_t)((1 + file->tag % SLOTS) * sizeof(struct note));
}

/* Returns whether a note says that a result was not cached, less than a minute ago. */
static bool has_note(const struct compile_lock_file *file)
{
	struct note note = {0};
	int64_t now = call_clock_straight();

	return call_pread(file->fd, &note, sizeof(note), place_note(file)) == (ssize_t)sizeof(note) &&
	       note.tag == file->tag && note.when <= now && note.when > now - NOT_KEPT_FOR;
}

void compile_lock_file_note(const struct compile_lock_file *file)
{
	const struct note note = {.tag = file->tag, .when = call_clock_straight()};

	if (is_ours(file)) {
		(void)output_at(file->fd, place_note(file), &note, sizeof(note));
	}
}

/*
 * Finds the lock that conflicts with the key's, and returns its holder's code. 0: there is none. -1: another program
 * locked the file, whose locks cover other bytes, or the file system has no locks.
 */
static int64_t find_holder(const struct compile_lock_file *file)
{
	struct flock range = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = file->place, .l_len = 1};

	if (TEMP_FAILURE_RETRY(fcntl(file->fd, F_OFD_GETLK, &range)) < 0) {
		return -1;
	}
	if (range.l_type == F_UNLCK) {
		return 0;
	}
	return range.l_start == file->place && range.l_len > 1 && range.l_len <= 1 + HOLDER_CODE_MAX ? range.l_len - 1
	                                                                                             : -1;
}

/* A pause is an eighth of the time waited so far, so a waiter notices a release at most 12 % later than it could. */
static long next_pause(int64_t waited, int64_t left)
{
	int64_t pause = waited / 8;

	pause = pause < PAUSE_MIN ? PAUSE_MIN : pause > PAUSE_MAX ? PAUSE_MAX : pause;
	return (long)(pause < left ? pause : left);
}

/* Called while another process has the lock. Polls until that process releases it, rests, or `deadline` is over. */
static enum compile_lock_file_state wait_for_other(struct compile_lock_file *file, int64_t deadline)
{
	struct holder_watch watch = {0};
	int64_t start = call_clock_straight();
	int64_t first = find_holder(file);
	int64_t holder = first;

	while (holder > 0 && holder == first) {
		int64_t now = call_clock_straight();

		if (now >= deadline || holder_rests(&watch, holder)) {
			return COMPILE_LOCK_FILE_GIVEN_UP;
		}
		call_pause(next_pause(now - start, deadline - now));
		holder = is_ours(file) ? find_holder(file) : 0;
	}
	return holder < 0 ? COMPILE_LOCK_FILE_GIVEN_UP : COMPILE_LOCK_FILE_ENDED;
}

static enum compile_lock_file_state take_opened(struct compile_lock_file *file, int64_t deadline,
                                                enum compile_lock_file_patience patience)
{
	if (has_note(file)) {
		return COMPILE_LOCK_FILE_NOT_KEPT;
	}
	switch (lock_bytes(file->fd, (struct lock_range){file->place, 1 + holder_code()}, 0)) {
	case LOCK_TAKEN:
		return COMPILE_LOCK_FILE_TAKEN;
	case LOCK_HELD:
		return patience == COMPILE_LOCK_FILE_WAIT ? wait_for_other(file, deadline) : COMPILE_LOCK_FILE_GIVEN_UP;
	default:
		return COMPILE_LOCK_FILE_NONE;
	}
}

enum compile_lock_file_state compile_lock_file_acquire(struct compile_lock_file *file,
                                                       const struct directory *directory,
                                                       const uint8_t key[ENTRY_KEY_BYTES], int64_t deadline,
                                                       enum compile_lock_file_patience patience)
{
	enum compile_lock_file_state state;

	if (!open_file(file, directory, key)) {
		return COMPILE_LOCK_FILE_NONE;
	}
	state = take_opened(file, deadline, patience);
	if (state != COMPILE_LOCK_FILE_TAKEN) {
		compile_lock_file_forget(file);
	}
	return state;
}

/* A child that was forked meanwhile has the open file too, so close() alone would not release the lock. */
void compile_lock_file_release(struct compile_lock_file *file)
{
	if (is_ours(file)) {
		lock_release_bytes(file->fd, (struct lock_range){file->place, 1 + HOLDER_CODE_MAX});
	}
	compile_lock_file_forget(file);
}

void compile_lock_file_forget(struct compile_lock_file *file)
{
	if (is_ours(file)) {
		close(file->fd);
	}
	file->fd = -1;
}

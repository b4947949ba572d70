/* SPDX-License-Identifier: MIT */
#include "cache/compile_lock_file.h"

#include "cache/calls.h"
#include "cache/digits.h"
#include "cache/lock.h"
#include "cache/output.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FILE_NAME    "compile-lock"
#define FILE_MAGIC   "NVCFLYER"
#define MS           INT64_C(1000000)
#define PAUSE_MIN    (1 * MS)
#define PAUSE_MAX    (50 * MS)
#define NOT_KEPT_FOR (60000 * MS)
#define SLOTS        4095 /* after the magic, which takes the place of slot 0 */
#define RANGE_BITS   (HOLDER_CODE_BITS + 1)
#define THREAD_BITS  22 /* the kernel's PID_MAX_LIMIT */
#define REST         INT64_C(2000000000)
#define ROOM         256
#define STAMPS       INT64_C(0xc0000001) /* the first stamp: odd, as no host reads a file, and below FAT's 4 GiB */

/* Says that a result of the key was not cached. */
struct note {
	uint64_t tag;
	int64_t when; /* CLOCK_MONOTONIC, ns */
};

/*
 * Returns true if the descriptor still refers to our open file. A host may close descriptors that it does not know and
 * reuse the number, even for the same file.
 */
static bool is_ours(const struct compile_lock_file *file)
{
	return file->fd >= 0 && lseek(file->fd, 0, SEEK_CUR) == file->stamp;
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

/*
 * Opens the file, and writes the magic to a new one. A file of another program is not used; checked at each open,
 * because a user may have replaced the file meanwhile. Closes the home at once, so that one descriptor is open during a
 * compilation, not two. The descriptor is moved away, because a host that runs without its standard streams would write
 * its output to our file.
 */
static int open_path(const struct directory *directory)
{
	struct stat found;
	int home, fd = -1;
	bool has_room;

	if (directory_open(directory, DIRECTORY_MAKE, &home) < 0) {
		return -1;
	}
	(void)directory_open_file(directory, home, FILE_NAME, O_RDWR | O_CREAT, &fd, &found);
	close(home);
	has_room = leaves_room(fd);
	fd = call_move_away(fd);
	if (fd >= 0 && (!has_room || lock_is_remote(fd) || !directory_is_ours(fd, FILE_MAGIC))) {
		close(fd);
		return -1;
	}
	if (fd >= 0 && found.st_size == 0) {
		(void)output_at(fd, 0, FILE_MAGIC, DIRECTORY_MAGIC_BYTES); /* without a magic the lock still works */
	}
	return fd;
}

/*
 * Opens the file and computes the key's range and tag. The stamp, a file position that nothing else uses, distinguishes
 * our open file description from any other that may have the number of its descriptor later.
 */
static bool open_file(struct compile_lock_file *file, const struct directory *directory,
                      const uint8_t key[ENTRY_KEY_BYTES])
{
	static atomic_uint stamps;
	int fd = open_path(directory);
	uint32_t range;

	file->stamp = STAMPS + 2 * (off_t)(atomic_fetch_add_explicit(&stamps, 1, memory_order_relaxed) % (1u << 28));
	if (fd < 0) {
		return false;
	}
	if (lseek(fd, file->stamp, SEEK_SET) != file->stamp) {
		close(fd);
		return false;
	}
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
	int64_t code;

	if (TEMP_FAILURE_RETRY(fcntl(file->fd, F_OFD_GETLK, &range)) < 0) {
		return -1;
	}
	if (range.l_type == F_UNLCK) {
		return 0;
	}
	code = range.l_start == file->place ? range.l_len - 1 : 0;
	return code > 0 && code <= HOLDER_CODE_MAX ? code : -1;
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

static enum compile_lock_file_state take_opened(struct compile_lock_file *file, int64_t deadline)
{
	enum lock_result taken;

	if (has_note(file)) {
		return COMPILE_LOCK_FILE_NOT_KEPT;
	}
	taken = lock_bytes(file->fd, (struct lock_range){file->place, 1 + holder_code()}, 0);
	return taken == LOCK_TAKEN  ? COMPILE_LOCK_FILE_TAKEN
	       : taken == LOCK_HELD ? wait_for_other(file, deadline)
	                            : COMPILE_LOCK_FILE_NONE;
}

enum compile_lock_file_state compile_lock_file_acquire(struct compile_lock_file *file,
                                                       const struct directory *directory,
                                                       const uint8_t key[ENTRY_KEY_BYTES], int64_t deadline)
{
	enum compile_lock_file_state state = COMPILE_LOCK_FILE_NONE;

	if (open_file(file, directory, key)) {
		state = take_opened(file, deadline);
	}
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

/* Returns some bits of the inode number of this thread's pid namespace, above those of a thread id. 0: not known. */
static int64_t find_namespace(void)
{
	struct stat space;

	return stat("/proc/self/ns/pid", &space) < 0 ? 0 : (int64_t)(space.st_ino << THREAD_BITS) & HOLDER_CODE_MAX;
}

int64_t holder_code(void)
{
	return find_namespace() | (int64_t)syscall(SYS_gettid);
}

/*
 * Reads the first number of /proc/<thread>/schedstat, the nanoseconds that this thread has run. (utime and stime in
 * /proc/<thread>/stat are those of its whole process.) Without the file, kill() tells a dead thread from a hidden one.
 */
static uint64_t read_time(pid_t thread, int64_t now)
{
	char path[40], text[64];
	uint64_t time;

	(void)snprintf(path, sizeof(path), "/proc/%d/schedstat", (int)thread);
	if (call_read_file(path, text, sizeof(text)) > 0 && digits_number(text, UINT64_MAX, &time)) {
		return time;
	}
	return kill(thread, 0) < 0 && errno == ESRCH ? 0 : (uint64_t)now;
}

bool holder_rests(struct holder_watch *watch, int64_t code)
{
	int64_t now = call_clock_straight();
	int64_t thread = code & ((INT64_C(1) << THREAD_BITS) - 1);
	uint64_t time =
	    code - thread == find_namespace() && code != thread ? read_time((pid_t)thread, now) : (uint64_t)now;

	if (watch->since == 0 || time != watch->time) {
		*watch = (struct holder_watch){.time = time, .since = now};
	}
	return now - watch->since >= REST;
}

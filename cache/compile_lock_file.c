/* SPDX-License-Identifier: MIT */
#include "cache/compile_lock_file.h"

#include "cache/calls.h"
#include "cache/lock.h"
#include "cache/output.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define FILE_NAME       "compile-lock"
#define FILE_MAGIC      "NVCFLYER"
#define MS              INT64_C(1000000)
#define SECOND          (1000 * MS)
#define PAUSE_MIN       (1 * MS)
#define PAUSE_MAX       (50 * MS)
#define HOLDER_INTERVAL (250 * MS)
#define STOPPED_FOR     (2 * SECOND)
#define NOTE_WITHIN     (500 * MS)
#define NOT_KEPT_FOR    (60 * SECOND)
#define SLOTS           1023 /* after the magic, which takes the place of slot 0 */
#define SLOT_BYTES      64
#define ROOM            256

enum note_state { NOTE_EMPTY, NOTE_COMPILING, NOTE_KEPT, NOTE_NOT_KEPT };

struct note {
	uint64_t tag;
	uint64_t began;
	uint64_t ended;
	uint64_t pid_space; /* inode of the holder's pid namespace, in which its thread id is valid; 0: not known */
	uint32_t holder;    /* thread id */
	uint32_t state;
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
	return fd;
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
 * Opens the file and computes the key's byte and tag. The stamp, a file position that nothing else uses, distinguishes
 * our open file description from another one of the same file that the host may have opened under the same number.
 */
static bool open_file(const struct directory *directory, const uint8_t key[ENTRY_KEY_BYTES],
                      struct compile_lock_file *ret)
{
	static atomic_uint stamps;
	/* a host that runs without its standard streams would write its output to our file */
	struct compile_lock_file file = {.fd = call_leave_streams(open_path(directory))};
	struct stat found;

	if (file.fd < 0) {
		return false;
	}
	file.stamp = (off_t)(atomic_fetch_add_explicit(&stamps, 1, memory_order_relaxed) & 0x3fffffff) + 1;
	if (!leaves_room(file.fd) || !has_magic(file.fd) || fstat(file.fd, &found) < 0 || lock_is_remote(file.fd) ||
	    lseek(file.fd, file.stamp, SEEK_SET) != file.stamp) {
		close(file.fd);
		return false;
	}
	file.device = found.st_dev;
	file.inode = found.st_ino;
	memcpy(&file.place, key, sizeof(file.place));
	file.place >>= 2; /* so that the offset and the one after it are positive as off_t */
	memcpy(&file.tag, key + sizeof(file.place), sizeof(file.tag));
	*ret = file;
	return true;
}

static bool read_slot(const struct compile_lock_file *file, uint64_t slot, struct note *ret_note)
{
	return TEMP_FAILURE_RETRY(pread(file->fd, ret_note, sizeof(*ret_note), (off_t)(slot * SLOT_BYTES))) ==
	       (ssize_t)sizeof(*ret_note);
}

/*
 * Finds the note of the key in one of its two slots, and returns the offset. If there is none, the note is empty, and
 * the offset is that of the first slot whose key is not being compiled. The note of a compilation in progress is
 * overwritten last, because without it the waiters of its key would stop waiting. Keys that are compiled at the same
 * time rarely share both slots. Notes have no checksum, because a torn one costs a wait.
 */
static off_t find_note(const struct compile_lock_file *file, struct note *ret_note)
{
	const uint64_t slots[2] = {1 + file->tag % SLOTS, 1 + file->tag / SLOTS % SLOTS};
	struct note notes[2] = {{0}, {0}};

	for (size_t i = 0; i < 2; i++) {
		if (read_slot(file, slots[i], &notes[i]) && notes[i].tag == file->tag) {
			*ret_note = notes[i];
			return (off_t)(slots[i] * SLOT_BYTES);
		}
	}
	*ret_note = (struct note){0};
	return (off_t)(slots[notes[0].state == NOTE_COMPILING && notes[1].state != NOTE_COMPILING] * SLOT_BYTES);
}

/*
 * Writes the key's note. It contains the inode of the pid namespace, because the same thread id denotes another thread
 * in another namespace.
 */
static void write_note(const struct compile_lock_file *file, enum note_state state)
{
	struct note note = {
	    .tag = file->tag,
	    .began = file->began,
	    .ended = (uint64_t)call_clock_straight(),
	    .state = state,
	};
	struct note before;
	struct stat space;

	if (state == NOTE_COMPILING && stat("/proc/self/ns/pid", &space) == 0) {
		note.pid_space = space.st_ino;
		note.holder = (uint32_t)syscall(SYS_gettid);
	}
	(void)output_at(file->fd, find_note(file, &before), &note, sizeof(note));
}

/* Returns whether the note says that a result was not cached, less than a minute ago. */
static bool is_fresh(const struct note *note)
{
	uint64_t now = (uint64_t)call_clock_straight();

	return note->state == NOTE_NOT_KEPT && note->ended <= now && now - note->ended < (uint64_t)NOT_KEPT_FOR;
}

/*
 * Finds the lock that conflicts on the key's byte (l_type F_UNLCK: none). F_OFD_GETLK returns its range, which shows
 * whether it is a compile lock. Returns false if the file system has no locks.
 */
static bool ask_holder(const struct compile_lock_file *file, struct flock *ret_range)
{
	*ret_range = (struct flock){.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = (off_t)file->place, .l_len = 1};
	return TEMP_FAILURE_RETRY(fcntl(file->fd, F_OFD_GETLK, ret_range)) == 0;
}

/* Returns TAKEN, GIVEN_UP (another process has it) or NONE. */
static enum compile_lock_file_state try_lock(struct compile_lock_file *file)
{
	switch (lock_bytes(file->fd, (struct lock_range){(off_t)file->place, 1}, LOCK_ALONE, 0)) {
	case LOCK_TAKEN:
		file->began = (uint64_t)call_clock_straight();
		write_note(file, NOTE_COMPILING);
		return COMPILE_LOCK_FILE_TAKEN;
	case LOCK_HELD:
		return COMPILE_LOCK_FILE_GIVEN_UP;
	default:
		return COMPILE_LOCK_FILE_NONE;
	}
}

/* Returns the state letter of a thread from /proc; '?': unknown. */
static char thread_state(uint32_t thread)
{
	char path[32];
	char text[128];
	const char *name_end;
	ssize_t got;
	int fd;

	(void)snprintf(path, sizeof(path), "/proc/%u/stat", thread);
	fd = TEMP_FAILURE_RETRY(open(path, O_RDONLY | O_CLOEXEC));
	if (fd < 0) {
		return '?';
	}
	got = TEMP_FAILURE_RETRY(read(fd, text, sizeof(text) - 1));
	close(fd);
	text[got > 0 ? got : 0] = '\0';
	name_end = strrchr(text, ')');
	return name_end && name_end[1] == ' ' ? name_end[2] : '?';
}

/* What a waiter knows of the holder's thread. */
struct suspicion {
	int64_t looked;  /* when it was examined last */
	int64_t stopped; /* when it was first seen stopped; 0: it runs */
};

/*
 * Returns whether the holder has been stopped for STOPPED_FOR or does not exist. It is examined once per
 * HOLDER_INTERVAL.
 */
static bool stands_still(struct suspicion *suspicion, const struct note *note, int64_t now)
{
	struct stat space;
	char state;

	if (now - suspicion->looked < HOLDER_INTERVAL || note->state != NOTE_COMPILING || note->pid_space == 0) {
		return false;
	}
	suspicion->looked = now;
	if (stat("/proc/self/ns/pid", &space) < 0 || space.st_ino != note->pid_space) {
		return false;
	}
	/* kill() and not /proc, because the mount option hidepid= may hide the thread there */
	if (kill((pid_t)note->holder, 0) < 0 && errno == ESRCH) {
		return true;
	}
	state = thread_state(note->holder);
	if (state != 'T' && state != 't') {
		suspicion->stopped = 0;
	} else if (suspicion->stopped == 0) {
		suspicion->stopped = now;
	}
	return suspicion->stopped != 0 && now - suspicion->stopped >= STOPPED_FOR;
}

static void pause_for(int64_t time)
{
	struct timespec pause = {.tv_sec = time / SECOND, .tv_nsec = time % SECOND};

	(void)nanosleep(&pause, NULL); /* a signal may end it early */
}

/* A pause is an eighth of the time waited so far, so a waiter notices a release at most 12 % later than it could. */
static int64_t next_pause(int64_t waited, int64_t left)
{
	int64_t pause = waited / 8;

	pause = pause < PAUSE_MIN ? PAUSE_MIN : pause > PAUSE_MAX ? PAUSE_MAX : pause;
	return pause < left ? pause : left;
}

/* Returns whether the conflicting lock looks like this key's compile lock, which covers exactly one byte. */
static bool is_of_key(const struct compile_lock_file *file, const struct flock *range)
{
	return range->l_start == (off_t)file->place && range->l_len == 1;
}

/*
 * Called while another process has the lock. Polls until that changes or `deadline` is over, and returns the outcome.
 */
static enum compile_lock_file_state wait_for_other(struct compile_lock_file *file, int64_t deadline)
{
	struct suspicion suspicion = {0};
	int64_t start = call_clock_straight();
	int64_t now = start;
	int64_t end;
	uint64_t began = 0; /* identifies the holder; 0: it has not written a note yet */

	for (;;) {
		struct flock range;
		struct note note;

		if (!is_ours(file) || !ask_holder(file, &range)) {
			return COMPILE_LOCK_FILE_NONE;
		}
		(void)find_note(file, &note);
		if (range.l_type == F_UNLCK) {
			enum compile_lock_file_state state;

			if (note.state == NOTE_KEPT || is_fresh(&note)) {
				return note.state == NOTE_KEPT ? COMPILE_LOCK_FILE_KEPT : COMPILE_LOCK_FILE_NOT_KEPT;
			}
			/* the holder noted no outcome: one of the waiters takes over */
			state = try_lock(file);
			if (state != COMPILE_LOCK_FILE_GIVEN_UP) {
				return state;
			}
		} else if (!is_of_key(file, &range)) {
			return COMPILE_LOCK_FILE_GIVEN_UP;
		} else if (note.state == NOTE_COMPILING) {
			if (began != 0 && note.began != began) {
				return COMPILE_LOCK_FILE_OVER;
			}
			began = note.began;
		}
		/* a holder that does not write a note for this key soon is not compiling it */
		end = began != 0 || deadline - start < NOTE_WITHIN ? deadline : start + NOTE_WITHIN;
		if (now >= end || stands_still(&suspicion, &note, now)) {
			return COMPILE_LOCK_FILE_GIVEN_UP;
		}
		pause_for(next_pause(now - start, end - now));
		now = call_clock_straight();
	}
}

/* Does not lock a key whose last result was not cached, because waiting for such a holder would be useless. */
static enum compile_lock_file_state take_opened(struct compile_lock_file *file, int64_t deadline,
                                                enum compile_lock_file_patience patience)
{
	struct note note;
	enum compile_lock_file_state state;

	(void)find_note(file, &note);
	if (is_fresh(&note)) {
		return COMPILE_LOCK_FILE_NOT_KEPT;
	}
	state = try_lock(file);
	return state == COMPILE_LOCK_FILE_GIVEN_UP && patience == COMPILE_LOCK_FILE_WAIT
	           ? wait_for_other(file, deadline)
	           : state;
}

enum compile_lock_file_state compile_lock_file_acquire(const struct directory *directory,
                                                       const uint8_t key[ENTRY_KEY_BYTES], int64_t deadline,
                                                       enum compile_lock_file_patience patience,
                                                       compile_lock_file_opened *opened, void *context,
                                                       struct compile_lock_file *ret_file)
{
	struct compile_lock_file file;
	enum compile_lock_file_state state;

	if (!open_file(directory, key, &file)) {
		return COMPILE_LOCK_FILE_NONE;
	}
	opened(context, &file);
	state = take_opened(&file, deadline, patience);
	if (state == COMPILE_LOCK_FILE_TAKEN) {
		*ret_file = file;
		return state;
	}
	compile_lock_file_forget(&file);
	opened(context, &file);
	return state;
}

/*
 * Writes the note before it releases the lock, so that a waiter that sees the byte unlocked also sees how the
 * compilation ended.
 */
void compile_lock_file_release(struct compile_lock_file *file, enum compile_lock_file_outcome outcome)
{
	if (is_ours(file)) {
		if (outcome != COMPILE_LOCK_FILE_ENDED_WITHOUT) {
			write_note(file, outcome == COMPILE_LOCK_FILE_ENDED_KEPT ? NOTE_KEPT : NOTE_NOT_KEPT);
		}
		lock_release_bytes(file->fd, (struct lock_range){(off_t)file->place, 1});
		close(file->fd);
	}
	file->fd = -1;
}

/* Closes without unlocking, because unlocking in a child would release the parent's lock. */
void compile_lock_file_forget(struct compile_lock_file *file)
{
	if (is_ours(file)) {
		close(file->fd);
	}
	file->fd = -1;
}

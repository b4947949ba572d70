/* SPDX-License-Identifier: MIT */
#include "interpose/compile/events.h"

#include "cache/calls.h"
#include "cache/network.h"
#include "cache/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NAME_MAX_SHOWN 200
#define EVENT_BYTES    640
#define TAIL_BYTES     (INT64_C(2) * EVENT_BYTES) /* a torn event, and the end of the one before it */
#define CLOSING        "\n]\n"
#define PAUSE_US       100
#define PAUSE_MAX_US   5000
#define PATIENCE_US    200000

static _Atomic(const char *) events_path;

void events_open(const char *path)
{
	atomic_store_explicit(&events_path, path, memory_order_release);
}

/* A JSON string's inside; what is not plain ASCII shows as '?'. */
static void escape(const char *name, char *text)
{
	size_t out = 0;

	for (size_t i = 0; name && name[i] && out < NAME_MAX_SHOWN; i++) {
		unsigned char c = (unsigned char)name[i];

		if (c == '"' || c == '\\') {
			text[out++] = '\\';
		}
		text[out++] = c < 0x20 || c > 0x7e ? '?' : (char)c;
	}
	text[out] = '\0';
}

/*
 * A regular file is an array that is closed after each event: under a lock, the closing bracket gives way to the event
 * and a new one, by one write. Whoever reads it between two events, or after the last process has ended however it did,
 * reads JSON.
 */

/* One that stands still with the lock must not cost every event of the others this wait. */
static _Atomic bool impatient;

/* False: another has it for too long. Where there are no locks one goes on without. */
static bool lock(int file)
{
	struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

	if (network_is(file)) {
		return true;
	}
	for (unsigned waited = 0, pause = PAUSE_US; call_lock(file, F_OFD_SETLK, &whole) < 0; waited += pause) {
		if (errno != EAGAIN && errno != EACCES && errno != EINTR) {
			return true;
		}
		if (waited >= PATIENCE_US || atomic_load_explicit(&impatient, memory_order_relaxed)) {
			atomic_store_explicit(&impatient, true, memory_order_relaxed);
			return false;
		}
		/* longer ones, as each takes longer than was asked for */
		pause = waited / 4 < PAUSE_US ? PAUSE_US : waited / 4 > PAUSE_MAX_US ? PAUSE_MAX_US : waited / 4;
		call_pause(pause * 1000L);
	}
	atomic_store_explicit(&impatient, false, memory_order_relaxed);
	return true;
}

/*
 * Where the array's last element ends in the file's last bytes; 0: nowhere. What comes after that line is the closing
 * bracket, or an event that was torn: its process was killed in the middle of the write, or the disk was full. An
 * event is one line, so that nothing in a program's name is taken for an end.
 */
static size_t find_end(const char *tail, size_t size)
{
	for (; size > 0; size--) {
		size_t end = size - 1;

		if (tail[end] != '\n') {
			continue;
		}
		end -= end > 0 && tail[end - 1] == ',';
		if (end > 0 && (tail[end - 1] == '}' || tail[end - 1] == '[')) {
			return end;
		}
	}
	return 0;
}

/*
 * Does the file begin as we begin it: the bracket ends a line? "[section]" of somebody's settings does not, and what
 * find_end() would take for an event in there is none.
 */
static bool is_array(int file)
{
	char first[3] = "";

	return call_pread(file, first, sizeof(first), 0) >= 2 && first[0] == '[' &&
	       (first[1] == '\n' || (first[1] == ' ' && first[2] == '\n'));
}

/* What is no array is somebody's, and not written. `event` has room for what stands before and behind it. */
static void add(int file, char *event, size_t size)
{
	char tail[TAIL_BYTES];
	struct stat found;
	off_t end = 0;
	ssize_t got;

	if (call_fstat(file, &found) < 0) {
		return;
	}
	memcpy(event, "[\n", 2);
	if (found.st_size > 0) {
		off_t from = found.st_size > TAIL_BYTES ? found.st_size - TAIL_BYTES : 0;
		size_t at;

		got = call_pread(file, tail, sizeof(tail), from);
		if (got <= 0 || !is_array(file)) {
			return;
		}
		at = find_end(tail, (size_t)got);
		if (at == 0) {
			return;
		}
		end = from + (off_t)at;
		memcpy(event, tail[at - 1] == '[' ? " \n" : ",\n", 2);
	}
	memcpy(event + size, CLOSING, sizeof(CLOSING) - 1);
	size += sizeof(CLOSING) - 1;
	if (output_at(file, end, event, size) == 0) {
		(void)output_cut(file, end + (off_t)size);
	} else if (end > 0 && call_fstat(file, &found) == 0) {
		/* half of it, perhaps: the array is closed where it was */
		(void)output_at(file, end, CLOSING, sizeof(CLOSING) - 1);
		(void)output_cut(file, end + (off_t)sizeof(CLOSING) - 1);
	}
}

/* The first two bytes of `event` are free, and so are those of CLOSING behind its `size`. */
static void append(const char *path, char *event, size_t size)
{
	struct flock whole = {.l_type = F_UNLCK, .l_whence = SEEK_SET};
	int flags = O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
	struct stat found;
	int file;

	if (stat(path, &found) == 0 && !S_ISREG(found.st_mode)) {
		/* a pipe, a terminal: events follow one another, as that format allows */
		file = call_openat(AT_FDCWD, path, O_WRONLY | O_APPEND | flags, 0);
		if (file >= 0) {
			event[size] = ',';
			event[size + 1] = '\n';
			(void)output_line(file, event + 2, size);
			call_close(file);
		}
		return;
	}
	file = call_openat(AT_FDCWD, path, O_RDWR | O_CREAT | flags, 0600);
	if (file < 0) {
		return;
	}
	if (call_fstat(file, &found) == 0 && S_ISREG(found.st_mode) && lock(file)) {
		add(file, event, size);
		/* said aloud: a child forked meanwhile has the descriptor too */
		(void)call_lock(file, F_OFD_SETLK, &whole);
	}
	call_close(file);
}

void events_write(const char *compiler, const char *how, const char *name, int64_t start_ns, int64_t end_ns,
                  int return_code)
{
	const char *path = atomic_load_explicit(&events_path, memory_order_acquire);
	char shown[NAME_MAX_SHOWN + 2];
	char event[EVENT_BYTES];
	int saved = errno;
	int size;

	if (!path) {
		return;
	}
	escape(name, shown);
	size =
	    snprintf(event + 2, sizeof(event) - 2 - sizeof(CLOSING),
	             "{\"name\":\"%s\",\"cat\":\"%s\",\"ph\":\"X\",\"ts\":%lld.%03lld,\"dur\":%lld.%03lld,\"pid\":%d,"
	             "\"tid\":%ld,\"args\":{\"program\":\"%s\",\"result\":%d}}",
	             how, compiler, (long long)start_ns / 1000, (long long)start_ns % 1000,
	             (long long)(end_ns - start_ns) / 1000, (long long)(end_ns - start_ns) % 1000, (int)getpid(),
	             (long)syscall(SYS_gettid), shown, return_code);
	append(path, event, (size_t)size + 2);
	errno = saved;
}

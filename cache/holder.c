/* SPDX-License-Identifier: MIT */
#include "cache/holder.h"

#include "cache/calls.h"
#include "cache/digits.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#define THREAD_BITS 22 /* the kernel's PID_MAX_LIMIT */
#define REST        INT64_C(2000000000)

/* Returns some bits of the inode number of this thread's pid namespace, above those of a thread id. 0: not known. */
static int64_t find_namespace(void)
{
	struct stat space;

	return call_fstatat(AT_FDCWD, "/proc/self/ns/pid", &space, 0) < 0
	           ? 0
	           : (int64_t)(space.st_ino << THREAD_BITS) & HOLDER_CODE_MAX;
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
	char path[40];
	char text[64];
	uint64_t time;
	ssize_t got = -1;
	int fd;

	(void)snprintf(path, sizeof(path), "/proc/%d/schedstat", (int)thread);
	fd = call_openat(AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
	if (fd >= 0) {
		got = call_pread(fd, text, sizeof(text) - 1, 0);
		call_close(fd);
	}
	text[got > 0 ? got : 0] = '\0';
	if (digits_number(text, UINT64_MAX, &time)) {
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

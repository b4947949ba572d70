/* SPDX-License-Identifier: MIT */
/* Only system calls that exist on both x86-64 and aarch64 are used. */
#include "cache/calls.h"

#include <errno.h>
#include <poll.h>

/* ---- through libc ---- */

int call_openat(int at, const char *path, int flags, mode_t mode)
{
	return (int)TEMP_FAILURE_RETRY(openat(at, path, flags, mode));
}

void call_close(int fd)
{
	if (fd >= 0) {
		(void)close(fd);
	}
}

/* Fits into the limit of 1,024 descriptors, and into the table that the kernel allocates for 257 or more. */
#define AWAY 512

int call_dup(int fd)
{
	return fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
}

int call_move_away(int fd)
{
	int moved = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, AWAY);

	if (moved < 0 && (fd < 0 || fd > STDERR_FILENO)) {
		return fd; /* the limit is lower, or all numbers are in use */
	}
	moved = moved < 0 ? call_dup(fd) : moved;
	close(fd);
	return moved;
}

void call_keep_atime(int fd)
{
	(void)fcntl(fd, F_SETFL, O_NONBLOCK | O_NOATIME);
}

ssize_t call_pread(int fd, void *ret_bytes, size_t size, off_t offset)
{
	size_t done = 0;
	ssize_t got = 1;

	while (done < size && got > 0) {
		got = TEMP_FAILURE_RETRY(pread(fd, (char *)ret_bytes + done, size - done, offset + (off_t)done));
		done += got > 0 ? (size_t)got : 0;
	}
	return got < 0 ? -1 : (ssize_t)done;
}

ssize_t call_read_file(const char *path, char *ret_text, size_t size)
{
	int file = call_openat(AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
	ssize_t got = -1;

	if (file >= 0) {
		got = call_pread(file, ret_text, size - 1, 0);
		close(file);
	}
	ret_text[got > 0 ? got : 0] = '\0';
	return got;
}

int64_t call_clock_ns(clockid_t clock)
{
	struct timespec now = {0};

	(void)clock_gettime(clock, &now);
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/* Not retried after EINTR, because each caller polls, and a signal of the host should not make it wait longer. */
void call_pause(long nanoseconds)
{
	(void)nanosleep(&(struct timespec){.tv_nsec = nanoseconds}, NULL);
}

/* ---- straight to the kernel ---- */

/* Converts the kernel's result (-errno) to libc's (-1 and errno). */
static long result_or_errno(long result)
{
	if (result < 0) {
		errno = (int)-result;
		return -1;
	}
	return result;
}

#define ASK(name, a, b, c, d, e) \
	result_or_errno(call_kernel(SYS_##name, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e)))

/* Returns no error, because it cannot fail for this clock. */
int64_t call_clock_straight(void)
{
	struct timespec now = {0};

	(void)call_kernel(SYS_clock_gettime, CLOCK_MONOTONIC, (long)&now, 0, 0, 0);
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

int call_socket(int domain, int type, int protocol)
{
	return (int)ASK(socket, domain, type, protocol, 0, 0);
}

int call_connect(int fd, const struct sockaddr *address, socklen_t size)
{
	return (int)ASK(connect, fd, address, size, 0, 0);
}

int call_getsockopt(int fd, int level, int option, void *ret_value, socklen_t *size)
{
	return (int)ASK(getsockopt, fd, level, option, ret_value, size);
}

ssize_t call_sendmsg(int fd, const struct msghdr *message, int flags)
{
	return ASK(sendmsg, fd, message, flags, 0, 0);
}

ssize_t call_recvmsg(int fd, struct msghdr *message, int flags)
{
	return ASK(recvmsg, fd, message, flags, 0, 0);
}

/* Uses ppoll, because aarch64 has no poll system call, and its timeout is in nanoseconds. */
int call_poll(int fd, short events, int64_t nanoseconds, short *ret_events)
{
	struct pollfd asked = {.fd = fd, .events = events};
	struct timespec patience = {.tv_sec = nanoseconds / 1000000000, .tv_nsec = nanoseconds % 1000000000};
	int ready = (int)ASK(ppoll, &asked, 1, &patience, NULL, 0);

	if (ready > 0) {
		*ret_events = asked.revents;
	}
	return ready;
}

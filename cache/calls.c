/* SPDX-License-Identifier: MIT */
/*
 * Each function calls libc until calls_go_straight(), and afterwards enters the kernel directly. Only system calls that
 * exist on both x86-64 and aarch64 are used.
 */
#include "cache/calls.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#define KERNEL_SET_BYTES 8 /* size of the kernel's set of signals */

static _Atomic bool straight;

/* Not reversible: other libraries' state that their destructors have freed cannot be restored. */
void calls_go_straight(void)
{
	atomic_store_explicit(&straight, true, memory_order_relaxed);
}

/*
 * Relaxed, because no other thread should be in our code when the destructor runs, and a thread that sees the flag late
 * only calls libc once more.
 */
static bool is_straight(void)
{
	return __builtin_expect(atomic_load_explicit(&straight, memory_order_relaxed), false);
}

/* Makes a system call. Returns the kernel's result: -errno if it fails. */
static long ask_kernel_more(long number, long a, long b, long c, long d, long e)
{
#if defined(__x86_64__)
	register long fourth __asm__("r10") = d;
	register long fifth __asm__("r8") = e;
	long result = number;

	__asm__ volatile("syscall"
	                 : "+a"(result)
	                 : "D"(a), "S"(b), "d"(c), "r"(fourth), "r"(fifth)
	                 : "rcx", "r11", "memory");
	return result;
#elif defined(__aarch64__)
	register long eighth __asm__("x8") = number;
	register long first __asm__("x0") = a;
	register long second __asm__("x1") = b;
	register long third __asm__("x2") = c;
	register long fourth __asm__("x3") = d;
	register long fifth __asm__("x4") = e;

	__asm__ volatile("svc 0"
	                 : "+r"(first)
	                 : "r"(eighth), "r"(second), "r"(third), "r"(fourth), "r"(fifth)
	                 : "memory", "cc");
	return first;
#else
#error "how does one call this machine's kernel?"
#endif
}

static long ask_kernel(long number, long a, long b, long c, long d)
{
	return ask_kernel_more(number, a, b, c, d, 0);
}

/* Converts the kernel's result (-errno) to libc's (-1 and errno). */
static long result_or_errno(long result)
{
	if (result < 0) {
		errno = (int)-result;
		return -1;
	}
	return result;
}

#define ASK(name, a, b, c, d) result_or_errno(ask_kernel(SYS_##name, (long)(a), (long)(b), (long)(c), (long)(d)))

/* Interrupted opens happen on network file systems and FIFOs. */
int call_openat(int at, const char *path, int flags, mode_t mode)
{
	int fd;

	do {
		fd = is_straight() ? (int)ASK(openat, at, path, flags, mode) : openat(at, path, flags, mode);
	} while (fd < 0 && errno == EINTR);
	return fd;
}

/* Not retried after EINTR, because Linux has closed the descriptor then, and the number may be in use again. */
int call_close(int fd)
{
	return is_straight() ? (int)ASK(close, fd, 0, 0, 0) : close(fd);
}

/* The kernel's struct stat is the same as libc's on both architectures. */
int call_fstat(int fd, struct stat *ret_found)
{
	return is_straight() ? (int)ASK(fstat, fd, ret_found, 0, 0) : fstat(fd, ret_found);
}

int call_fstatat(int at, const char *path, struct stat *ret_found, int flags)
{
	return is_straight() ? (int)ASK(newfstatat, at, path, ret_found, flags) : fstatat(at, path, ret_found, flags);
}

/* Fits into the limit of 1,024 descriptors, and into the table that the kernel allocates for 257 or more. */
#define AWAY 512

static int dup_from(int fd, int least)
{
	return is_straight() ? (int)ASK(fcntl, fd, F_DUPFD_CLOEXEC, least, 0) : fcntl(fd, F_DUPFD_CLOEXEC, least);
}

int call_dup(int fd)
{
	return dup_from(fd, STDERR_FILENO + 1);
}

int call_move_away(int fd)
{
	int moved = fd < 0 ? -1 : dup_from(fd, AWAY);

	if (moved < 0 && (fd < 0 || fd > STDERR_FILENO)) {
		return fd; /* the limit is lower, or all numbers are in use */
	}
	moved = moved < 0 ? call_dup(fd) : moved;
	call_close(fd);
	return moved;
}

int call_mkdirat(int at, const char *path, mode_t mode)
{
	return is_straight() ? (int)ASK(mkdirat, at, path, mode, 0) : mkdirat(at, path, mode);
}

ssize_t call_list(int place, void *ret_names, size_t size)
{
	return ASK(getdents64, place, ret_names, size, 0);
}

/* aarch64 has no chmod system call; chmod(2) there is fchmodat without flags. */
int call_chmod(const char *path, mode_t mode)
{
	return is_straight() ? (int)ASK(fchmodat, AT_FDCWD, path, mode, 0) : chmod(path, mode);
}

int call_fchmod(int fd, mode_t mode)
{
	return is_straight() ? (int)ASK(fchmod, fd, mode, 0, 0) : fchmod(fd, mode);
}

/* Uses fchownat() with an empty path, because fchown(2) refuses O_PATH descriptors. */
int call_chgrp(int fd, gid_t group)
{
	if (is_straight()) {
		return (int)result_or_errno(
		    ask_kernel_more(SYS_fchownat, fd, (long)"", -1, (long)group, AT_EMPTY_PATH));
	}
	return fchownat(fd, "", (uid_t)-1, group, AT_EMPTY_PATH);
}

int call_unlinkat(int at, const char *path, int flags)
{
	return is_straight() ? (int)ASK(unlinkat, at, path, flags, 0) : unlinkat(at, path, flags);
}

int call_renameat(int at, const char *from, const char *to)
{
	return is_straight() ? (int)ASK(renameat, at, from, at, to) : renameat(at, from, at, to);
}

ssize_t call_pread(int fd, void *ret_bytes, size_t size, off_t offset)
{
	size_t done = 0;

	while (done < size) {
		void *rest = (char *)ret_bytes + done;
		off_t at = offset + (off_t)done;
		ssize_t got =
		    is_straight() ? ASK(pread64, fd, rest, size - done, at) : pread(fd, rest, size - done, at);

		if (got == 0) {
			break;
		}
		if (got < 0 && errno != EINTR) {
			return -1;
		}
		done += got > 0 ? (size_t)got : 0;
	}
	return (ssize_t)done;
}

ssize_t call_read_file(const char *path, char *ret_text, size_t size)
{
	int file = call_openat(AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
	ssize_t got = -1;

	if (file >= 0) {
		got = call_pread(file, ret_text, size - 1, 0);
		call_close(file);
	}
	ret_text[got > 0 ? got : 0] = '\0';
	return got;
}

int call_lock(int fd, int command, struct flock *range)
{
	return is_straight() ? (int)ASK(fcntl, fd, command, range, 0) : fcntl(fd, command, range);
}

uid_t call_geteuid(void)
{
	return is_straight() ? (uid_t)ASK(geteuid, 0, 0, 0, 0) : geteuid();
}

gid_t call_getegid(void)
{
	return is_straight() ? (gid_t)ASK(getegid, 0, 0, 0, 0) : getegid();
}

int call_getgroups(int size, gid_t *ret_groups)
{
	return is_straight() ? (int)ASK(getgroups, size, ret_groups, 0, 0) : getgroups(size, ret_groups);
}

pid_t call_getpid(void)
{
	return is_straight() ? (pid_t)ASK(getpid, 0, 0, 0, 0) : getpid();
}

/* prlimit64 of process 0 (this one): its limits have 64 bits on every architecture. */
int call_getrlimit(int resource, struct rlimit *ret_limit)
{
	return is_straight() ? (int)ASK(prlimit64, 0, resource, 0, ret_limit) : getrlimit(resource, ret_limit);
}

/* Uses libfaketime's clock, because these times are displayed to the user who has set it. */
void call_clock(clockid_t clock, struct timespec *ret_now)
{
	if (is_straight()) {
		(void)ASK(clock_gettime, clock, ret_now, 0, 0);
	} else {
		(void)clock_gettime(clock, ret_now);
	}
}

int64_t call_clock_ns(clockid_t clock)
{
	struct timespec now = {0};

	call_clock(clock, &now);
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/* Returns no error, because it cannot fail for this clock. */
int64_t call_clock_straight(void)
{
	struct timespec now = {0};

	(void)ask_kernel(SYS_clock_gettime, CLOCK_MONOTONIC, (long)&now, 0, 0);
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/* Not retried after EINTR, because each caller polls, and a signal of the host should not make it wait longer. */
void call_pause(long nanoseconds)
{
	struct timespec pause = {.tv_nsec = nanoseconds};

	if (is_straight()) {
		(void)ASK(nanosleep, &pause, 0, 0, 0);
	} else {
		(void)nanosleep(&pause, NULL);
	}
}

/* Sockets never use libc, because wrappers such as proxychains would redirect them. */
int call_socket(int domain, int type, int protocol)
{
	return (int)ASK(socket, domain, type, protocol, 0);
}

int call_connect(int fd, const struct sockaddr *address, socklen_t size)
{
	return (int)ASK(connect, fd, address, size, 0);
}

int call_getsockopt(int fd, int level, int option, void *ret_value, socklen_t *size)
{
	return (int)result_or_errno(ask_kernel_more(SYS_getsockopt, fd, level, option, (long)ret_value, (long)size));
}

ssize_t call_sendmsg(int fd, const struct msghdr *message, int flags)
{
	return ASK(sendmsg, fd, message, flags, 0);
}

ssize_t call_recvmsg(int fd, struct msghdr *message, int flags)
{
	return ASK(recvmsg, fd, message, flags, 0);
}

/* Uses ppoll, because aarch64 has no poll system call, and its timeout is in nanoseconds. */
int call_poll(int fd, short events, int64_t nanoseconds, short *ret_events)
{
	struct pollfd asked = {.fd = fd, .events = events};
	struct timespec patience = {.tv_sec = nanoseconds / 1000000000, .tv_nsec = nanoseconds % 1000000000};
	int ready = (int)ASK(ppoll, &asked, 1, &patience, NULL);

	if (ready > 0) {
		*ret_events = asked.revents;
	}
	return ready;
}

ssize_t call_write(int fd, const void *bytes, size_t size)
{
	ssize_t put;

	do {
		put = is_straight() ? ASK(write, fd, bytes, size, 0) : write(fd, bytes, size);
	} while (put < 0 && errno == EINTR);
	return put;
}

ssize_t call_pwrite(int fd, const void *bytes, size_t size, off_t offset)
{
	ssize_t put;

	do {
		put = is_straight() ? ASK(pwrite64, fd, bytes, size, offset) : pwrite(fd, bytes, size, offset);
	} while (put < 0 && errno == EINTR);
	return put;
}

int call_ftruncate(int fd, off_t size)
{
	return is_straight() ? (int)ASK(ftruncate, fd, size, 0, 0) : ftruncate(fd, size);
}

/*
 * The functions for signals always enter the kernel directly: libc adds only checks, and wrappers of these functions do
 * nothing that we need. rt_sigprocmask changes the mask of this thread only.
 */
unsigned call_block(unsigned signals)
{
	unsigned long set = signals;
	unsigned long before = 0;

	(void)ask_kernel(SYS_rt_sigprocmask, SIG_BLOCK, (long)&set, (long)&before, KERNEL_SET_BYTES);
	return (unsigned)before & signals;
}

/* Signals that were blocked before stay blocked, because the host has blocked them. */
void call_restore(unsigned signals, unsigned before)
{
	unsigned long set = signals & ~before;

	if (set != 0) {
		(void)ask_kernel(SYS_rt_sigprocmask, SIG_UNBLOCK, (long)&set, 0, KERNEL_SET_BYTES);
	}
}

/* Returns the signals that are pending for the thread or the process. */
unsigned call_pending(void)
{
	unsigned long set = 0;

	(void)ask_kernel(SYS_rt_sigpending, (long)&set, KERNEL_SET_BYTES, 0, 0);
	return (unsigned)set;
}

/* Takes back a pending signal. Returns at once if another thread has received it in the meantime. */
void call_consume(unsigned signal)
{
	unsigned long set = 1ul << (signal - 1);
	const struct timespec at_once = {0, 0};

	while (ask_kernel(SYS_rt_sigtimedwait, (long)&set, 0, (long)&at_once, KERNEL_SET_BYTES) == -EINTR) {
	}
}

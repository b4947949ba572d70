/* SPDX-License-Identifier: MIT */
/*
 * calls: the system calls that our own files need, also while the host exits
 *
 * Purpose: other preloaded libraries (libfaketime, fakeroot, tracers) wrap libc's file and time functions. At exit they
 * tear themselves down in an order that nobody controls, and the functions that they still export may then end the
 * host. After calls_go_straight(), which our destructor calls first, these functions call nothing in libc or in another
 * library and enter the kernel by an instruction. (syscall(2) would not do: libfaketime wraps that too.) Before that
 * they call libc, so that a wrapper such as fakechroot is obeyed.
 *
 * Errors: -1 and errno, as libc's. EINTR is retried where that is right. State: one flag, which is never reset.
 */
#ifndef CACHE_CALLS_H
#define CACHE_CALLS_H

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>

void calls_go_straight(void);

int call_openat(int at, const char *path, int flags, mode_t mode);
int call_close(int fd);
int call_fstat(int fd, struct stat *ret_found);
int call_fstatat(int at, const char *path, struct stat *ret_found, int flags);
int call_dup(int fd); /* 3 or higher, and O_CLOEXEC */
/* Moves a descriptor that is one of the standard streams to a higher number. -1 is passed on. */
int call_leave_streams(int fd);
int call_mkdirat(int at, const char *path, mode_t mode);
/* chmod of a path, following links: for /proc/self/fd/N. */
int call_chmod(const char *path, mode_t mode);
int call_fchmod(int fd, mode_t mode);
/* Of a descriptor of any kind, O_PATH ones too. */
int call_chgrp(int fd, gid_t group);
int call_unlinkat(int at, const char *path, int flags);
/* Reads `size` bytes, or as many as there are before the end of the file. */
ssize_t call_pread(int fd, void *ret_bytes, size_t size, off_t offset);
int call_lock(int fd, int command, struct flock *range);
uid_t call_geteuid(void);
gid_t call_getegid(void);
int call_getgroups(int size, gid_t *ret_groups);
pid_t call_getpid(void);
int call_getrlimit(int resource, struct rlimit *ret_limit);
void call_clock(clockid_t clock, struct timespec *ret_now);
/* Always of the kernel: for waits, which must end under a libfaketime whose clock stands still, too. */
void call_clock_straight(clockid_t clock, struct timespec *ret_now);
void call_pause(long nanoseconds); /* below a second; a signal makes it shorter */
void call_yield(void);

/*
 * Sockets, always of the kernel: layers that send a host's connections elsewhere (proxychains, torsocks, TCP stacks in
 * user space) would send ours there too. MSG_NOSIGNAL is the caller's to say; EINTR is not retried.
 */
int call_socket(int domain, int type, int protocol);
int call_connect(int fd, const struct sockaddr *address, socklen_t size);
int call_getsockopt(int fd, int level, int option, void *ret_value, socklen_t *size);
ssize_t call_sendmsg(int fd, const struct msghdr *message, int flags);
ssize_t call_recvmsg(int fd, struct msghdr *message, int flags);
/* poll() of one descriptor: 1, 0 when the time is over, or -1. */
int call_poll(int fd, short events, int64_t nanoseconds, short *ret_events);

/* For cache/output.c alone, which takes care of SIGXFSZ. */
ssize_t call_write(int fd, const void *bytes, size_t size);
ssize_t call_pwrite(int fd, const void *bytes, size_t size, off_t offset);
int call_ftruncate(int fd, off_t size);
/* Signals below 32, as a set of bits: signal n is bit n - 1. */
unsigned call_block(unsigned signals); /* returns the signals that were blocked before */
void call_restore(unsigned signals, unsigned before);
unsigned call_pending(void);
void call_consume(unsigned signal);

#endif

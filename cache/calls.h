/* SPDX-License-Identifier: MIT */
/*
 * calls: system calls for our own files that also work while the host exits
 *
 * Purpose: other preloaded libraries (libfaketime, fakeroot, tracers) wrap libc's file and time functions. At exit
 * their destructors run in an order that no library controls, and the functions that they still export may then crash
 * the host. After calls_go_straight(), which our destructor calls first, the functions below call nothing in libc or in
 * another library and enter the kernel with an instruction. (syscall(2) is no alternative, because libfaketime wraps it
 * too.) Before that they call libc, so that a wrapper such as fakechroot works as intended.
 *
 * Errors: -1 and errno, like libc. EINTR is retried where that is right. Threads: any. State: one flag, which is never
 * reset.
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

/* Makes all functions below enter the kernel directly from now on. */
void calls_go_straight(void);

int call_openat(int at, const char *path, int flags, mode_t mode);
int call_close(int fd);
int call_fstat(int fd, struct stat *ret_found);
int call_fstatat(int at, const char *path, struct stat *ret_found, int flags);
int call_dup(int fd); /* the copy is 3 or higher, and O_CLOEXEC */
/*
 * Moves a descriptor that stays open for a while to a number that a host gets for no file of its own: it would write
 * its output to ours if it runs without standard streams, and we would write to its files if another thread closes all
 * descriptors that it does not know (closefrom) and opens others. Returns -1 for -1.
 */
int call_move_away(int fd);
int call_mkdirat(int at, const char *path, mode_t mode);
/* Like chmod(): follows links, as /proc/self/fd/N needs. */
int call_chmod(const char *path, mode_t mode);
int call_fchmod(int fd, mode_t mode);
/* Sets the group of any descriptor, including O_PATH descriptors. */
int call_chgrp(int fd, gid_t group);
/* getdents64(2). Always enters the kernel directly, because older versions of libc have no function for it. */
ssize_t call_list(int place, void *ret_names, size_t size);
int call_unlinkat(int at, const char *path, int flags);
int call_renameat(int at, const char *from, const char *to);
/* Reads `size` bytes, or fewer if the file ends before. */
ssize_t call_pread(int fd, void *ret_bytes, size_t size, off_t offset);
/* Reads a small file, as those in /proc, and ends it with a NUL. Returns how many bytes it has, below `size`, or -1. */
ssize_t call_read_file(const char *path, char *ret_text, size_t size);
int call_lock(int fd, int command, struct flock *range);
uid_t call_geteuid(void);
gid_t call_getegid(void);
int call_getgroups(int size, gid_t *ret_groups);
pid_t call_getpid(void);
int call_getrlimit(int resource, struct rlimit *ret_limit);
void call_clock(clockid_t clock, struct timespec *ret_now);
int64_t call_clock_ns(clockid_t clock);
/*
 * Returns CLOCK_MONOTONIC in nanoseconds. Always asks the kernel: for waits, which must also end if libfaketime's clock
 * has been stopped.
 */
int64_t call_clock_straight(void);
void call_pause(long nanoseconds); /* less than a second; a signal ends it early */

/*
 * Sockets. These functions always enter the kernel directly, because libraries that redirect a host's connections
 * (proxychains, torsocks, TCP stacks in user space) would redirect ours too. The caller passes MSG_NOSIGNAL. EINTR is
 * not retried.
 */
int call_socket(int domain, int type, int protocol);
int call_connect(int fd, const struct sockaddr *address, socklen_t size);
int call_getsockopt(int fd, int level, int option, void *ret_value, socklen_t *size);
ssize_t call_sendmsg(int fd, const struct msghdr *message, int flags);
ssize_t call_recvmsg(int fd, struct msghdr *message, int flags);
/* Like poll() with one descriptor. Returns 1 if it is ready, 0 after the timeout, or -1. */
int call_poll(int fd, short events, int64_t nanoseconds, short *ret_events);

/* Only cache/output.c may call these, because it blocks SIGXFSZ and SIGPIPE. */
ssize_t call_write(int fd, const void *bytes, size_t size);
ssize_t call_pwrite(int fd, const void *bytes, size_t size, off_t offset);
int call_ftruncate(int fd, off_t size);
/* Sets of signals below 32: signal n is bit n - 1. */
unsigned call_block(unsigned signals); /* returns the signals that were blocked before */
void call_restore(unsigned signals, unsigned before);
unsigned call_pending(void);
void call_consume(unsigned signal);

#endif

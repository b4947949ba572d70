/* SPDX-License-Identifier: MIT */
/*
 * calls: system calls that libc does not offer as we need them
 *
 * Purpose: some retry, or convert, what every caller would. Others enter the kernel with an instruction, because
 * wrappers in other preloaded libraries would do something else (syscall(2) is no alternative: libfaketime wraps it,
 * and torsocks takes a lock in it that it holds while it calls dlsym()). All other files call libc, so that a wrapper
 * such as fakechroot works as intended.
 *
 * Errors: -1 and errno, like libc. Threads: any. State: none.
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
#include <sys/syscall.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

/*
 * Makes a system call with an instruction. Returns the kernel's result: -errno if it fails. Inline, because
 * interpose/elf needs it before a sanitizer's runtime is initialised.
 */
static inline long call_kernel(long number, long a, long b, long c, long d, long e)
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

/* EINTR is retried: interrupted opens happen on network file systems and FIFOs. */
int call_openat(int at, const char *path, int flags, mode_t mode);
void call_close(int fd); /* -1: nothing is open */
int call_dup(int fd);    /* the copy is 3 or higher, and O_CLOEXEC */
/*
 * Moves a descriptor that stays open for a while to a number that a host gets for no file of its own: it would write
 * its output to ours if it runs without standard streams, and we would write to its files if another thread closes all
 * descriptors that it does not know (closefrom) and opens others. Returns -1 for -1.
 */
int call_move_away(int fd);
/*
 * Later reads of an open file do not set its atime, if the file is this user's. Not a flag of open(), which fails for
 * another user's file.
 */
void call_keep_atime(int fd);
/* Reads `size` bytes, or fewer if the file ends before. */
ssize_t call_pread(int fd, void *ret_bytes, size_t size, off_t offset);
/* Reads a small file, as those in /proc, and ends it with a NUL. Returns how many bytes it has, below `size`, or -1. */
ssize_t call_read_file(const char *path, char *ret_text, size_t size);
/* Nanoseconds. This is libfaketime's clock, because the user who has set it is shown these times. */
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

#endif

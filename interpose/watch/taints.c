/* SPDX-License-Identifier: MIT */
/* Replacements for calls after which a result is not kept, and for those where that hangs on an argument. */
#include "interpose/watch/imports.h"
#include "interpose/watch/record.h"
#include "keygen/trace.h"

#include <iconv.h>
#include <locale.h>
#include <netdb.h>
#include <pwd.h>
#include <sched.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/utsname.h>
#include <unistd.h>

/* Reported before the call: exec does not come back, and fork's child goes on with the trace as its parent. */
#define TAINTING(taint, type, name, params, args) \
	REPLACEMENT(type, name, params)           \
	{                                         \
		record_taint(taint);              \
		return REAL(name) args;           \
	}

#define WRITES(...)   TAINTING(TAINT_WRITE, __VA_ARGS__)
#define RUNS(...)     TAINTING(TAINT_PROCESS, __VA_ARGS__)
#define MOVES(...)    TAINTING(TAINT_CHANGED_PLACE, __VA_ARGS__)
#define CONTACTS(...) TAINTING(TAINT_UNKNOWN_CALL, __VA_ARGS__)

#define WRITES_PATH(name, params, args) \
	REPLACEMENT(int, name, params)  \
	{                               \
		record_write(path);     \
		return REAL(name) args; \
	}

REPLACEMENT(int, mkdir, (const char *path, mode_t mode))
{
	record_made(path);
	return REAL(mkdir)(path, mode);
}

WRITES_PATH(rmdir, (const char *path), (path))
WRITES_PATH(unlink, (const char *path), (path))
WRITES(int, unlinkat, (int at, const char *path, int flags), (at, path, flags))
WRITES_PATH(remove, (const char *path), (path))
WRITES(int, rename, (const char *from, const char *to), (from, to))
WRITES(int, link, (const char *from, const char *to), (from, to))
WRITES(int, symlink, (const char *target, const char *path), (target, path))
WRITES(int, chmod, (const char *path, mode_t mode), (path, mode))
WRITES(int, fchmodat, (int at, const char *path, mode_t mode, int flags), (at, path, mode, flags))
WRITES(int, truncate, (const char *path, off_t size), (path, size))
WRITES_PATH(mkstemp, (char *path), (path))
WRITES_PATH(mkstemp64, (char *path), (path))
WRITES(int, utimensat, (int at, const char *path, const struct timespec *times, int flags), (at, path, times, flags))

RUNS(pid_t, fork, (void), ())
RUNS(int, execv, (const char *path, char *const *words), (path, words))
RUNS(int, execve, (const char *path, char *const *words, char *const *variables), (path, words, variables))
RUNS(int, execvp, (const char *file, char *const *words), (file, words))
RUNS(int, system, (const char *command), (command))
RUNS(int, posix_spawn,
     (pid_t * child, const char *path, const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attributes,
      char *const *words, char *const *variables),
     (child, path, actions, attributes, words, variables))

MOVES(int, chdir, (const char *path), (path))

CONTACTS(int, setenv, (const char *name, const char *value, int replace), (name, value, replace))

CONTACTS(int, socket, (int domain, int type, int protocol), (domain, type, protocol))
CONTACTS(int, connect, (int file, const void *address, socklen_t size), (file, address, size))
CONTACTS(int, bind, (int file, const void *address, socklen_t size), (file, address, size))
CONTACTS(int, listen, (int file, int backlog), (file, backlog))
CONTACTS(int, accept, (int file, void *address, socklen_t *size), (file, address, size))
CONTACTS(ssize_t, sendto,
         (int file, const void *bytes, size_t size, int flags, const void *address, socklen_t address_size),
         (file, bytes, size, flags, address, address_size))
CONTACTS(ssize_t, recvfrom, (int file, void *bytes, size_t size, int flags, void *address, socklen_t *address_size),
         (file, bytes, size, flags, address, address_size))
CONTACTS(ssize_t, sendmsg, (int file, const struct msghdr *message, int flags), (file, message, flags))
CONTACTS(ssize_t, recvmsg, (int file, struct msghdr *message, int flags), (file, message, flags))
CONTACTS(int, sendmmsg, (int file, struct mmsghdr *messages, unsigned count, int flags), (file, messages, count, flags))
CONTACTS(int, recvmmsg, (int file, struct mmsghdr *messages, unsigned count, int flags, struct timespec *timeout),
         (file, messages, count, flags, timeout))
CONTACTS(int, getaddrinfo,
         (const char *node, const char *service, const struct addrinfo *hints, struct addrinfo **ret_list),
         (node, service, hints, ret_list))
CONTACTS(int, getnameinfo,
         (const void *address, socklen_t size, char *host, socklen_t host_size, char *service, socklen_t service_size,
          int flags),
         (address, size, host, host_size, service, service_size, flags))
CONTACTS(struct hostent *, gethostbyname, (const char *name), (name))
CONTACTS(int, shmget, (key_t key, size_t size, int flags), (key, size, flags))
CONTACTS(void *, shmat, (int id, const void *address, int flags), (id, address, flags))

CONTACTS(struct passwd *, getpwnam, (const char *name), (name))
CONTACTS(struct passwd *, getpwuid, (uid_t user), (user))
CONTACTS(int, getpwnam_r,
         (const char *name, struct passwd *record, char *buffer, size_t size, struct passwd **ret_record),
         (name, record, buffer, size, ret_record))
CONTACTS(int, getpwuid_r, (uid_t user, struct passwd *record, char *buffer, size_t size, struct passwd **ret_record),
         (user, record, buffer, size, ret_record))
CONTACTS(int, gethostname, (char *name, size_t size), (name, size))
CONTACTS(int, uname, (struct utsname * name), (name))
CONTACTS(int, getentropy, (void *bytes, size_t size), (bytes, size))

/* Message catalogues and converters are files that libc opens behind our back. No ordinary compile gets here. */
CONTACTS(iconv_t, iconv_open, (const char *to, const char *from), (to, from))
CONTACTS(char *, bindtextdomain, (const char *domain, const char *directory), (domain, directory))
CONTACTS(char *, gettext, (const char *text), (text))
CONTACTS(char *, dgettext, (const char *domain, const char *text), (domain, text))
CONTACTS(char *, dcgettext, (const char *domain, const char *text, int category), (domain, text, category))

/* Every compile sets "C" and then what was set before (11.8 and 12.0 with setlocale, later ones with newlocale). */

REPLACEMENT(char *, setlocale, (int category, const char *locale))
{
	char *result;

	if (locale) {
		record_locale(locale);
	}
	result = REAL(setlocale)(category, locale);
	if (!locale) {
		record_locale_query(result);
	}
	return result;
}

REPLACEMENT(locale_t, newlocale, (int mask, const char *locale, locale_t base))
{
	record_locale(locale);
	return REAL(newlocale)(mask, locale, base);
}

REPLACEMENT(locale_t, __newlocale, (int mask, const char *locale, locale_t base))
{
	record_locale(locale);
	return REAL(__newlocale)(mask, locale, base);
}

/* System calls without a name of their own in libc (NVRTC: gettid), and others that touch only this process. */
static bool is_harmless(long number)
{
	switch (number) {
	case SYS_gettid:
	case SYS_getpid:
	case SYS_getuid:
	case SYS_geteuid:
	case SYS_futex:
	case SYS_sched_yield:
	case SYS_sched_setaffinity:
	case SYS_clock_gettime:
	case SYS_clock_getres:
	case SYS_clock_nanosleep:
	case SYS_nanosleep:
	case SYS_gettimeofday:
	case SYS_getrandom:
	case SYS_mmap:
	case SYS_munmap:
	case SYS_mprotect:
	case SYS_mremap:
	case SYS_brk:
	case SYS_madvise:
	case SYS_mlock:
	case SYS_munlock:
	case SYS_mbind:
	case SYS_set_mempolicy:
	case SYS_membarrier:
	case SYS_memfd_create:
	case SYS_rt_sigprocmask:
	case SYS_tgkill:
	case SYS_close:
		return true;
	default:
		return false;
	}
}

/* All six words are passed on, however many the call has, as libc's own does: what was not given is not looked at. */
REPLACEMENT(long, syscall, (long number, long a, long b, long c, long d, long e, long f))
{
	if (is_harmless(number)) {
		record_call();
	} else {
		record_taint(TAINT_UNKNOWN_CALL);
	}
	return REAL(syscall)(number, a, b, c, d, e, f);
}

/* SPDX-License-Identifier: MIT */
/*
 * Replacements for calls after which a result is not cached, and for calls where that depends on an argument. The call
 * is recorded before it is made, because exec does not return and fork returns twice.
 */
#include "interpose/watch/imports.h"
#include "interpose/watch/record.h"
#include "keygen/trace.h"

#include <locale.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>

/*
 * X(taint, name). setenv changes the answers to later calls. Message catalogues and converters are files that libc
 * opens itself, where no import slot shows it.
 */
/* It would indent each line deeper than the one before. */
/* clang-format off */
#define TAINTING(X) \
	X(WRITE, unlinkat) X(WRITE, rename) X(WRITE, link) X(WRITE, symlink) X(WRITE, chmod) X(WRITE, fchmodat) \
	X(WRITE, truncate) X(WRITE, utimensat) \
	X(PROCESS, fork) X(PROCESS, execv) X(PROCESS, execve) X(PROCESS, execvp) X(PROCESS, system) \
	X(PROCESS, posix_spawn) \
	X(CHANGED_PLACE, chdir) \
	X(UNKNOWN_CALL, setenv) X(UNKNOWN_CALL, socket) X(UNKNOWN_CALL, connect) X(UNKNOWN_CALL, bind) \
	X(UNKNOWN_CALL, listen) X(UNKNOWN_CALL, accept) X(UNKNOWN_CALL, sendto) X(UNKNOWN_CALL, recvfrom) \
	X(UNKNOWN_CALL, sendmsg) X(UNKNOWN_CALL, recvmsg) X(UNKNOWN_CALL, sendmmsg) X(UNKNOWN_CALL, recvmmsg) \
	X(UNKNOWN_CALL, getaddrinfo) X(UNKNOWN_CALL, gethostbyname) X(UNKNOWN_CALL, gethostname) \
	X(UNKNOWN_CALL, shmget) X(UNKNOWN_CALL, shmat) X(UNKNOWN_CALL, getpwnam) X(UNKNOWN_CALL, getpwuid) \
	X(UNKNOWN_CALL, getpwnam_r) X(UNKNOWN_CALL, getpwuid_r) X(UNKNOWN_CALL, uname) X(UNKNOWN_CALL, getentropy) \
	X(UNKNOWN_CALL, iconv_open) X(UNKNOWN_CALL, bindtextdomain) X(UNKNOWN_CALL, gettext) \
	X(UNKNOWN_CALL, dgettext) X(UNKNOWN_CALL, dcgettext)
/* clang-format on */

/*
 * Each function takes at most six integers or pointers. Both machines pass those in registers of one word, so one
 * prototype serves all functions: a function ignores registers for which it has no parameter, and its result is in the
 * same register.
 */
#define WORDS (long a, long b, long c, long d, long e, long f)

#define TAINT_FIRST(taint, name)                     \
	REPLACEMENT(long, name, WORDS)               \
	{                                            \
		record_taint(TAINT_##taint);         \
		return REAL(name)(a, b, c, d, e, f); \
	}
TAINTING(TAINT_FIRST)
#undef TAINT_FIRST

REPLACEMENT(long, mkdir, WORDS)
{
	record_made((const char *)a);
	return REAL(mkdir)(a, b, c, d, e, f);
}

/* The first parameter is the path to be created or removed, which may be a scratch file of the compiler. */
#define WRITE_PATH(name)                             \
	REPLACEMENT(long, name, WORDS)               \
	{                                            \
		record_write((const char *)a);       \
		return REAL(name)(a, b, c, d, e, f); \
	}
WRITE_PATH(rmdir)
WRITE_PATH(unlink)
WRITE_PATH(remove)
WRITE_PATH(mkstemp)
WRITE_PATH(mkstemp64)

/* getnameinfo takes seven parameters, more than WORDS has. */
REPLACEMENT(int, getnameinfo,
            (const void *address, socklen_t size, char *host, socklen_t host_size, char *service,
             socklen_t service_size, int flags))
{
	record_taint(TAINT_UNKNOWN_CALL);
	return REAL(getnameinfo)(address, size, host, host_size, service, service_size, flags);
}

/*
 * Every compilation sets the locale "C" and then restores the previous one (11.8 and 12.0 with setlocale, later ones
 * with newlocale).
 */

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

#define NEWLOCALE(name)                                                            \
	REPLACEMENT(locale_t, name, (int mask, const char *locale, locale_t base)) \
	{                                                                          \
		record_locale(locale);                                             \
		return REAL(name)(mask, locale, base);                             \
	}
NEWLOCALE(newlocale)
NEWLOCALE(__newlocale)

/* Returns true for system calls without a libc wrapper (NVRTC: gettid), and others that affect only this process. */
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

REPLACEMENT(long, syscall, (long number, long a, long b, long c, long d, long e, long f))
{
	if (is_harmless(number)) {
		record_call();
	} else {
		record_taint(TAINT_UNKNOWN_CALL);
	}
	return REAL(syscall)(number, a, b, c, d, e, f);
}

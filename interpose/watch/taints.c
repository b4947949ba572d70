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
IMPORTS(IMPORT_NONE, TAINT_FIRST, IMPORT_NONE, IMPORT_NONE, IMPORT_NONE, IMPORT_NONE)
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

REPLACEMENT(long, syscall, (long number, long a, long b, long c, long d, long e, long f))
{
	/* those that NVRTC, nvJitLink and libNVVM contain; they affect only this process */
	if (number == SYS_gettid || number == SYS_futex || number == SYS_clock_gettime) {
		record_call();
	} else {
		record_taint(TAINT_UNKNOWN_CALL);
	}
	return REAL(syscall)(number, a, b, c, d, e, f);
}

/* SPDX-License-Identifier: MIT */
/*
 * Replacements for calls after which a result is not cached, and for calls where that depends on an argument. The call
 * is recorded before it is made, because exec does not return and fork returns twice.
 */
#undef _FORTIFY_SOURCE /* no format checks that the compiler library was not built with */
#include "interpose/watch/imports.h"
#include "interpose/watch/record.h"
#include "keygen/trace.h"

#include <errno.h>
#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>
#include <wchar.h>

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

/*
 * Calls that write to streams and descriptors. A file that the compiler opened for writing was recorded at that open.
 * Output to a stream of the host (`-Xptxas --version` prints to stdout) is a side effect: a hit would not repeat it.
 */

/* Returns the stream's descriptor; -1 for a memory stream. */
static int descriptor_of(FILE *stream)
{
	int saved_errno = errno;
	int descriptor = fileno(stream);

	errno = saved_errno;
	return descriptor;
}

#define WRITES_TO(descriptor, type, name, params, args) \
	REPLACEMENT(type, name, params)                 \
	{                                               \
		record_output(descriptor);              \
		return REAL(name) args;                 \
	}

#define WRITES_STREAM(...) WRITES_TO(descriptor_of(stream), __VA_ARGS__)
#define WRITES_STDOUT(...) WRITES_TO(STDOUT_FILENO, __VA_ARGS__)
#define WRITES_FILE(...)   WRITES_TO(file, __VA_ARGS__)

WRITES_FILE(ssize_t, write, (int file, const void *bytes, size_t size), (file, bytes, size))
WRITES_FILE(ssize_t, writev, (int file, const struct iovec *pieces, int count), (file, pieces, count))

WRITES_STREAM(size_t, fwrite, (const void *bytes, size_t size, size_t count, FILE *stream),
              (bytes, size, count, stream))
WRITES_STREAM(int, fputs, (const char *text, FILE *stream), (text, stream))
WRITES_STREAM(int, fputc, (int c, FILE *stream), (c, stream))
WRITES_STREAM(int, putc, (int c, FILE *stream), (c, stream))
WRITES_STREAM(int, _IO_putc, (int c, FILE *stream), (c, stream))
WRITES_STREAM(wint_t, putwc, (wchar_t c, FILE *stream), (c, stream))
WRITES_STDOUT(int, puts, (const char *text), (text))
WRITES_STDOUT(int, putchar, (int c), (c))
WRITES_TO(STDERR_FILENO, void, perror, (const char *text), (text))

WRITES_STREAM(int, vfprintf, (FILE * stream, const char *format, va_list rest), (stream, format, rest))
WRITES_STREAM(int, __vfprintf_chk, (FILE * stream, int flag, const char *format, va_list rest),
              (stream, flag, format, rest))
WRITES_STDOUT(int, vprintf, (const char *format, va_list rest), (format, rest))
WRITES_STDOUT(int, __vprintf_chk, (int flag, const char *format, va_list rest), (flag, format, rest))

/* A function can forward its variable arguments only as a va_list. */
#define PRINTS(descriptor, name, params, ...) \
	REPLACEMENT(int, name, params)        \
	{                                     \
		va_list rest;                 \
		int result;                   \
                                              \
		record_output(descriptor);    \
		va_start(rest, format);       \
		result = __VA_ARGS__;         \
		va_end(rest);                 \
		return result;                \
	}

/* glibc's fortified variants; `flag` requests checks of %n. */
extern int __vprintf_chk(int flag, const char *format, va_list rest);
extern int __vfprintf_chk(FILE *stream, int flag, const char *format, va_list rest);

PRINTS(STDOUT_FILENO, printf, (const char *format, ...), vprintf(format, rest))
PRINTS(STDOUT_FILENO, __printf_chk, (int flag, const char *format, ...), __vprintf_chk(flag, format, rest))
PRINTS(descriptor_of(stream), fprintf, (FILE * stream, const char *format, ...), vfprintf(stream, format, rest))
PRINTS(descriptor_of(stream), __fprintf_chk, (FILE * stream, int flag, const char *format, ...),
       __vfprintf_chk(stream, flag, format, rest))

/* SPDX-License-Identifier: MIT */
/*
 * Replacements for calls that write to streams and descriptors. A file that the compiler opened for writing was
 * recorded at that open. Output to a stream of the host (`-Xptxas --version` prints to stdout) is a side effect,
 * because a hit would not repeat it.
 */
#undef _FORTIFY_SOURCE /* no format checks that the compiler library was not built with */
#include "interpose/watch/imports.h"
#include "interpose/watch/record.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/uio.h>
#include <unistd.h>
#include <wchar.h>

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

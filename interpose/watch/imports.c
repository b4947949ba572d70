/* SPDX-License-Identifier: MIT */
/*
 * Most replacements make the real call and then record it. One whose call may end the process or return twice (exec,
 * fork) records it first. For a call whose answer depends on more than the file's content or presence (a link's target,
 * a directory's entries), a listing is recorded, which makes the result uncacheable.
 */
#undef _FORTIFY_SOURCE /* no format checks that the compiler library was not built with */
#include "interpose/watch/imports.h"
#include "interpose/watch/record.h"
#include "keygen/trace.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>
#include <wchar.h>

/* ---- the table and its look-up ---- */

_Atomic(uintptr_t) imports_real[IMPORT_COUNT];

const struct import_entry imports[IMPORT_COUNT] = {
#define IMPORT_WATCHED(name)           {replacement_##name, #name, false},
#define IMPORT_TAINTED(why, name)      {replacement_##name, #name, false},
#define IMPORT_ARITHMETIC(class, name) {replacement_##name, #name, true},
#define IMPORT_ODD(name)               {NULL, #name, true},
#define IMPORT_CLEARED(name)           {NULL, #name, false},
    IMPORTS(IMPORT_WATCHED, IMPORT_TAINTED, IMPORT_ARITHMETIC, IMPORT_ODD, IMPORT_CLEARED, IMPORT_CLEARED)};

static int by_name(const void *name, const void *entry)
{
	return strcmp(name, ((const struct import_entry *)entry)->name);
}

const struct import_entry *imports_find(const char *name)
{
	return bsearch(name, imports, IMPORT_COUNT, sizeof(imports[0]), by_name);
}

/* ---- calls that read files, paths, the environment or the machine ---- */

/*
 * A replacement that makes the call and then records it. `result` and `error` are what the call returned, and errno
 * after it.
 */
#define RECORD_AFTER(type, name, parameters, arguments, ...) \
	REPLACEMENT(type, name, parameters)                  \
	{                                                    \
		type result = REAL(name) arguments;          \
		int error = errno;                           \
                                                             \
		__VA_ARGS__;                                 \
		errno = error;                               \
		return result;                               \
	}

/* Mode letters "e", "m", "x", "b" and "c" have no effect here; ",ccs=" makes libc load a character set converter. */
static void record_stream(FILE *stream, const char *path, const char *mode, int error)
{
	if (!mode || mode[0] != 'r' || strchr(mode, '+')) {
		record_write(path);
	} else if (strchr(mode, ',')) {
		record_taint(TAINT_UNKNOWN_CALL);
	} else {
		record_open(path, stream ? fileno(stream) : -1, error);
	}
}

RECORD_AFTER(FILE *, fopen, (const char *path, const char *mode), (path, mode),
             record_stream(result, path, mode, error))
RECORD_AFTER(FILE *, fopen64, (const char *path, const char *mode), (path, mode),
             record_stream(result, path, mode, error))

static bool has_mode(int flags)
{
	return (flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE;
}

/* Returns true if the path, relative to `directory`, resolves as in a call without a directory. */
static bool is_plain(int directory, const char *path)
{
	return directory == AT_FDCWD || (path && *path == '/');
}

static void record_descriptor(int descriptor, int directory, const char *path, int flags, int error)
{
	/* These flags open a lock file: it is a side effect only if the file is not the compiler's own lock. */
	if ((flags & ~O_CLOEXEC) == (O_RDWR | O_CREAT)) {
		record_made(is_plain(directory, path) ? path : NULL);
	} else if ((flags & O_ACCMODE) != O_RDONLY || (flags & O_TRUNC) || has_mode(flags)) {
		record_write(is_plain(directory, path) ? path : NULL);
	} else if ((flags & (O_DIRECTORY | O_PATH | O_NOFOLLOW)) || !is_plain(directory, path)) {
		record_listing(path);
	} else {
		record_open(path, descriptor, error);
	}
}

#define OPENED(directory) record_descriptor(result, directory, path, flags, error)

/* `mode` is forwarded even if the caller passed none: libc then ignores it, and both machines pass it in a register. */
RECORD_AFTER(int, open, (const char *path, int flags, mode_t mode), (path, flags, mode), OPENED(AT_FDCWD))
RECORD_AFTER(int, open64, (const char *path, int flags, mode_t mode), (path, flags, mode), OPENED(AT_FDCWD))
RECORD_AFTER(int, openat, (int directory, const char *path, int flags, mode_t mode), (directory, path, flags, mode),
             OPENED(directory))
RECORD_AFTER(int, __open_2, (const char *path, int flags), (path, flags), OPENED(AT_FDCWD))
RECORD_AFTER(int, __open64_2, (const char *path, int flags), (path, flags), OPENED(AT_FDCWD))

/* On the supported 64-bit machines a struct stat64 is a struct stat. */
#define PROBED record_probe(path, result == 0 ? status : NULL, error)

RECORD_AFTER(int, stat, (const char *path, struct stat *status), (path, status), PROBED)
RECORD_AFTER(int, stat64, (const char *path, struct stat *status), (path, status), PROBED)
/* Before glibc 2.33 a program's stat was __xstat with the version of its struct stat; 64-bit machines have only one. */
RECORD_AFTER(int, __xstat, (int version, const char *path, struct stat *status), (version, path, status), PROBED)
RECORD_AFTER(int, __xstat64, (int version, const char *path, struct stat *status), (version, path, status), PROBED)

/* Whether a path is a link, and which file system it is on, cannot be expressed as a dependency. */
#define LISTED record_listing(path)

RECORD_AFTER(int, lstat, (const char *path, struct stat *status), (path, status), LISTED)
RECORD_AFTER(int, lstat64, (const char *path, struct stat *status), (path, status), LISTED)
RECORD_AFTER(int, __lxstat, (int version, const char *path, struct stat *status), (version, path, status), LISTED)
RECORD_AFTER(int, __lxstat64, (int version, const char *path, struct stat *status), (version, path, status), LISTED)
RECORD_AFTER(ssize_t, readlink, (const char *path, char *target, size_t size), (path, target, size), LISTED)
RECORD_AFTER(ssize_t, __readlink_chk, (const char *path, char *target, size_t size, size_t room),
             (path, target, size, room), LISTED)
RECORD_AFTER(int, statfs, (const char *path, struct statfs *status), (path, status), LISTED)
RECORD_AFTER(int, statfs64, (const char *path, struct statfs *status), (path, status), LISTED)
RECORD_AFTER(int, statvfs, (const char *path, struct statvfs *status), (path, status), LISTED)

/* Records a call that reveals more than whether a path exists: only the absence of the path can be a dependency. */
static void judge_path(bool done, const char *path, int error)
{
	if (!done && (error == ENOENT || error == ENOTDIR)) {
		record_probe(path, NULL, error);
	} else {
		record_listing(path);
	}
}

RECORD_AFTER(int, access, (const char *path, int mode), (path, mode),
             result == 0 && mode == F_OK ? record_presence(path) : judge_path(result == 0, path, error))
RECORD_AFTER(char *, realpath, (const char *path, char *resolved), (path, resolved),
             judge_path(result != NULL, path, error))
RECORD_AFTER(char *, __realpath_chk, (const char *path, char *resolved, size_t room), (path, resolved, room),
             judge_path(result != NULL, path, error))
/* ENOTDIR does not mean that the path is absent: it may be a file. */
RECORD_AFTER(DIR *, opendir, (const char *path), (path),
             !result && error == ENOENT ? record_probe(path, NULL, ENOENT) : record_listing(path))

/* Records a query of the directory. One whose buffer is too small (ERANGE) tells the compiler nothing about it. */
static void record_getcwd(const char *directory, int error)
{
	if (directory || error != ERANGE) {
		record_asked(NULL, directory);
	} else {
		record_call();
	}
}

RECORD_AFTER(char *, getcwd, (char *buffer, size_t size), (buffer, size), record_getcwd(result, error))
RECORD_AFTER(char *, __getcwd_chk, (char *buffer, size_t size, size_t room), (buffer, size, room),
             record_getcwd(result, error))

RECORD_AFTER(char *, getenv, (const char *name), (name), record_asked(name, result))
RECORD_AFTER(char *, secure_getenv, (const char *name), (name), record_asked(name, result))

/* Numbers of the machine, which are recorded with their answers (keygen/machine.h). */

RECORD_AFTER(int, get_nprocs, (void), (), record_answered(MACHINE_GET_NPROCS, result))
RECORD_AFTER(long, sysconf, (int name), (name), record_answered(MACHINE_QUESTION(MACHINE_SYSCONF, name), result))
RECORD_AFTER(unsigned long, getauxval, (unsigned long type), (type),
             record_answered(MACHINE_QUESTION(MACHINE_AUXILIARY, type), (int64_t)result))
RECORD_AFTER(unsigned long, __getauxval, (unsigned long type), (type),
             record_answered(MACHINE_QUESTION(MACHINE_AUXILIARY, type), (int64_t)result))

/*
 * NVRTC 13.2 and later choose the size of a thread pool by the affinity (-enable-tile). A query for another process or
 * with another set size cannot be repeated at look-up, so it makes the result uncacheable.
 */
RECORD_AFTER(int, sched_getaffinity, (pid_t pid, size_t size, cpu_set_t *set), (pid, size, set),
             result == 0 && pid == 0 && size == sizeof(*set)
                 ? record_answered(MACHINE_AFFINITY, machine_digest_set(set))
                 : record_taint(TAINT_UNKNOWN_CALL))

/* ---- calls after which a result is not cached, always or by an argument ---- */

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
 * ---- calls that write to streams and descriptors ----
 *
 * A file that the compiler opened for writing was recorded at that open.
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

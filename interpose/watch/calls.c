/* SPDX-License-Identifier: MIT */
/* Replacements for calls that read: files, paths, the environment. Each does the real call and reports it. */
#include "interpose/watch/imports.h"
#include "interpose/watch/record.h"
#include "keygen/trace.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Streams. "e", "m", "x", "b" and "c" change nothing here; ",ccs=" loads a converter. */

static FILE *opened_stream(FILE *stream, const char *path, const char *mode)
{
	int error = errno;

	if (!mode || mode[0] != 'r' || strchr(mode, '+')) {
		record_write(path);
	} else if (strchr(mode, ',')) {
		record_taint(TAINT_UNKNOWN_CALL);
	} else {
		record_open(path, stream ? fileno(stream) : -1, error);
	}
	errno = error;
	return stream;
}

REPLACEMENT(FILE *, fopen, (const char *path, const char *mode))
{
	return opened_stream(REAL(fopen)(path, mode), path, mode);
}

REPLACEMENT(FILE *, fopen64, (const char *path, const char *mode))
{
	return opened_stream(REAL(fopen64)(path, mode), path, mode);
}

/* Descriptors. */

static bool has_mode(int flags)
{
	return (flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE;
}

/* Is the path one that a call relative to `directory` resolves as a plain call would? */
static bool is_plain(int directory, const char *path)
{
	return directory == AT_FDCWD || (path && *path == '/');
}

static int opened(int descriptor, int directory, const char *path, int flags)
{
	int error = errno;

	if ((flags & ~O_CLOEXEC) == (O_RDWR | O_CREAT)) {
		record_made(is_plain(directory, path) ? path : NULL);
	} else if ((flags & O_ACCMODE) != O_RDONLY || (flags & O_TRUNC) || has_mode(flags)) {
		record_write(is_plain(directory, path) ? path : NULL);
	} else if ((flags & (O_DIRECTORY | O_PATH | O_NOFOLLOW)) || !is_plain(directory, path)) {
		record_listing(path);
	} else {
		record_open(path, descriptor, error);
	}
	errno = error;
	return descriptor;
}

#define MODE(flags, mode)                    \
	mode_t mode = 0;                     \
	if (has_mode(flags)) {               \
		va_list rest;                \
		va_start(rest, flags);       \
		mode = va_arg(rest, mode_t); \
		va_end(rest);                \
	}

REPLACEMENT(int, open, (const char *path, int flags, ...))
{
	MODE(flags, mode) /* NOLINT(clang-analyzer-valist.Uninitialized): clang 14 misses va_start */
	return opened(REAL(open)(path, flags, mode), AT_FDCWD, path, flags);
}

REPLACEMENT(int, open64, (const char *path, int flags, ...))
{
	MODE(flags, mode) /* NOLINT(clang-analyzer-valist.Uninitialized): clang 14 misses va_start */
	return opened(REAL(open64)(path, flags, mode), AT_FDCWD, path, flags);
}

REPLACEMENT(int, openat, (int directory, const char *path, int flags, ...))
{
	MODE(flags, mode) /* NOLINT(clang-analyzer-valist.Uninitialized): clang 14 misses va_start */
	return opened(REAL(openat)(directory, path, flags, mode), directory, path, flags);
}

REPLACEMENT(int, __open_2, (const char *path, int flags))
{
	return opened(REAL(__open_2)(path, flags), AT_FDCWD, path, flags);
}

REPLACEMENT(int, __open64_2, (const char *path, int flags))
{
	return opened(REAL(__open64_2)(path, flags), AT_FDCWD, path, flags);
}

/* Probes. A struct stat64 is a struct stat on the machines that we run on. */

static int probed(int result, const char *path, const struct stat *status)
{
	record_probe(path, result == 0 ? status : NULL, errno);
	return result;
}

/* Whether a path is a link cannot be a dependency. */
static int listed(int result, const char *path)
{
	record_listing(path);
	return result;
}

/* For calls that say whether a path is there, and more: what more they say cannot be a dependency. */
static void judged(bool done, const char *path)
{
	if (!done && (errno == ENOENT || errno == ENOTDIR)) {
		record_probe(path, NULL, errno);
	} else {
		record_listing(path);
	}
}

#define STAT(name)                                                      \
	REPLACEMENT(int, name, (const char *path, struct stat *status)) \
	{                                                               \
		return probed(REAL(name)(path, status), path, status);  \
	}

#define LSTAT(name)                                                     \
	REPLACEMENT(int, name, (const char *path, struct stat *status)) \
	{                                                               \
		return listed(REAL(name)(path, status), path);          \
	}

/* Until glibc 2.33 a program's stat was __xstat with the version of its struct stat: always ours on 64-bit machines. */
#define XSTAT(name)                                                                  \
	REPLACEMENT(int, name, (int version, const char *path, struct stat *status)) \
	{                                                                            \
		return probed(REAL(name)(version, path, status), path, status);      \
	}

#define XLSTAT(name)                                                                 \
	REPLACEMENT(int, name, (int version, const char *path, struct stat *status)) \
	{                                                                            \
		return listed(REAL(name)(version, path, status), path);              \
	}

/* clang-format off */
STAT(stat) STAT(stat64)
LSTAT(lstat) LSTAT(lstat64)
XSTAT(__xstat) XSTAT(__xstat64)
XLSTAT(__lxstat) XLSTAT(__lxstat64)
    /* clang-format on */

    REPLACEMENT(int, access, (const char *path, int mode))
{
	int result = REAL(access)(path, mode);

	if (result == 0 && mode == F_OK) {
		record_presence(path);
	} else {
		judged(result == 0, path);
	}
	return result;
}

REPLACEMENT(ssize_t, readlink, (const char *path, char *target, size_t size))
{
	ssize_t result = REAL(readlink)(path, target, size);

	record_listing(path);
	return result;
}

REPLACEMENT(ssize_t, __readlink_chk, (const char *path, char *target, size_t size, size_t room))
{
	ssize_t result = REAL(__readlink_chk)(path, target, size, room);

	record_listing(path);
	return result;
}

REPLACEMENT(char *, realpath, (const char *path, char *resolved))
{
	char *result = REAL(realpath)(path, resolved);

	judged(result != NULL, path);
	return result;
}

REPLACEMENT(char *, __realpath_chk, (const char *path, char *resolved, size_t room))
{
	char *result = REAL(__realpath_chk)(path, resolved, room);

	judged(result != NULL, path);
	return result;
}

REPLACEMENT(int, statfs, (const char *path, struct statfs *status))
{
	return listed(REAL(statfs)(path, status), path);
}

REPLACEMENT(int, statfs64, (const char *path, struct statfs *status))
{
	return listed(REAL(statfs64)(path, status), path);
}

REPLACEMENT(int, statvfs, (const char *path, struct statvfs *status))
{
	return listed(REAL(statvfs)(path, status), path);
}

/* ENOTDIR may mean a file in the directory's place: no absence. */
REPLACEMENT(DIR *, opendir, (const char *path))
{
	DIR *result = REAL(opendir)(path);

	if (!result && errno == ENOENT) {
		record_probe(path, NULL, ENOENT);
	} else {
		record_listing(path);
	}
	return result;
}

/* A buffer that is too small is no answer. */
static char *placed(char *directory)
{
	int error = errno;

	if (directory || error != ERANGE) {
		record_directory(directory);
	} else {
		record_call();
	}
	errno = error;
	return directory;
}

REPLACEMENT(char *, getcwd, (char *buffer, size_t size))
{
	return placed(REAL(getcwd)(buffer, size));
}

REPLACEMENT(char *, __getcwd_chk, (char *buffer, size_t size, size_t room))
{
	return placed(REAL(__getcwd_chk)(buffer, size, room));
}

/* The environment. */

static char *asked(const char *name, char *value)
{
	record_asked(name, value);
	return value;
}

REPLACEMENT(char *, getenv, (const char *name))
{
	return asked(name, REAL(getenv)(name));
}

REPLACEMENT(char *, secure_getenv, (const char *name))
{
	return asked(name, REAL(secure_getenv)(name));
}

/* The machine. */

REPLACEMENT(int, get_nprocs, (void))
{
	int result = REAL(get_nprocs)();

	record_answered(MACHINE_GET_NPROCS, result);
	return result;
}

REPLACEMENT(long, sysconf, (int name))
{
	long result = REAL(sysconf)(name);

	record_answered(MACHINE_QUESTION(MACHINE_SYSCONF, name), result);
	return result;
}

/* NVRTC 13.2 and later: -enable-tile has a pool of threads. Another process's set, or one of another size, is no answer. */
REPLACEMENT(int, sched_getaffinity, (pid_t pid, size_t size, cpu_set_t *set))
{
	int result = REAL(sched_getaffinity)(pid, size, set);

	if (result == 0 && pid == 0 && size == sizeof(*set)) {
		record_answered(MACHINE_AFFINITY, machine_digest_set(set));
	} else {
		record_taint(TAINT_UNKNOWN_CALL);
	}
	return result;
}

REPLACEMENT(unsigned long, getauxval, (unsigned long type))
{
	unsigned long result = REAL(getauxval)(type);

	record_answered(MACHINE_QUESTION(MACHINE_AUXILIARY, type), (int64_t)result);
	return result;
}

REPLACEMENT(unsigned long, __getauxval, (unsigned long type))
{
	unsigned long result = REAL(__getauxval)(type);

	record_answered(MACHINE_QUESTION(MACHINE_AUXILIARY, type), (int64_t)result);
	return result;
}

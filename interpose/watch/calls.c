/* SPDX-License-Identifier: MIT */
/*
 * Replacements for calls that read: files, paths, the environment. Each makes the real call and records it. For a call
 * whose answer depends on more than the file's content or presence (a link's target, a directory's entries), a listing
 * is recorded, which makes the result uncacheable.
 */
#include "interpose/watch/imports.h"
#include "interpose/watch/record.h"
#include "keygen/trace.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <unistd.h>

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

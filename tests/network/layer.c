/* SPDX-License-Identifier: MIT */
/*
 * layer: libc's calls as they fail on a network file system, where no file system can be mounted
 *
 * Use: LD_PRELOAD="libnvrtccache.so layer.so" LAYER_RULES="open=ESTALE/3,..." LAYER_DIRECTORY=/the/cache program
 *
 * Rules (rules.h) for open, fstat, stat, read, write, rename, unlink, mkdir, utimens, lock, close; and type=HEX: what
 * fstatfs says. They hold below LAYER_DIRECTORY alone: by the path that a descriptor has in /proc/self/fd.
 * LAYER_SWAP=FILE: right after an entry was opened (before it is read), FILE takes its place by rename, or with an
 * empty value it is removed: what another node may do. LAYER_COUNT=FILE gets one byte for each call that failed so.
 */
#include "tests/network/rules.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

static const char *directory;
static const char *swap;
static const char *count;

__attribute__((constructor)) static void set_up(void)
{
	directory = getenv("LAYER_DIRECTORY");
	swap = getenv("LAYER_SWAP");
	count = getenv("LAYER_COUNT");
	if (!rules_read(getenv("LAYER_RULES"))) {
		_exit(99);
	}
}

static void *next(const char *name)
{
	return dlsym(RTLD_NEXT, name);
}
#define NEXT(name) ((__typeof__(&(name)))next(#name))

static bool below(const char *path)
{
	return directory && strncmp(path, directory, strlen(directory)) == 0;
}

/* The path of a file, from a descriptor and what is relative to it. */
static bool path_of(int at, const char *path, char ret_path[PATH_MAX])
{
	char link[64];
	ssize_t size = 0;

	if (path[0] != '/' && at != AT_FDCWD) {
		(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", at);
		size = readlink(link, ret_path, PATH_MAX - 1);
		if (size < 0 || (size_t)size + strlen(path) + 2 > PATH_MAX) {
			return false;
		}
		if (path[0]) {
			ret_path[size++] = '/';
		}
	}
	if ((size_t)size + strlen(path) + 1 > PATH_MAX) {
		return false;
	}
	memcpy(ret_path + size, path, strlen(path) + 1);
	return true;
}

/* Does this call fail? Then errno says how. */
static bool fails(const char *operation, int at, const char *path)
{
	char whole[PATH_MAX];
	int saved = errno;
	int error = 0;

	if (rule_count && directory && path_of(at, path, whole) && below(whole)) {
		error = rules_error(operation);
	}
	if (error && count) {
		int file = (int)syscall(SYS_openat, AT_FDCWD, count, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);

		(void)!syscall(SYS_write, file, "!", 1);
		(void)syscall(SYS_close, file);
	}
	errno = error ? error : saved;
	return error != 0;
}

static bool is_entry(const char *path)
{
	const char *name = strrchr(path, '/');

	return name && strlen(name + 1) == 62 && strspn(name + 1, "0123456789abcdef") == 62;
}

/* Another node replaces or removes what was opened a moment ago. */
static void meddle(int at, const char *path)
{
	char whole[PATH_MAX], copy[PATH_MAX + 8];
	int saved = errno;

	if (!swap || !is_entry(path) || !path_of(at, path, whole) || !below(whole)) {
		errno = saved;
		return;
	}
	if (!*swap) {
		(void)syscall(SYS_unlinkat, AT_FDCWD, whole, 0);
	} else {
		(void)snprintf(copy, sizeof(copy), "%s.swap", swap);
		(void)syscall(SYS_unlinkat, AT_FDCWD, copy, 0);
		if (syscall(SYS_linkat, AT_FDCWD, swap, AT_FDCWD, copy, 0) == 0) {
			(void)syscall(SYS_renameat2, AT_FDCWD, copy, AT_FDCWD, whole, 0);
		}
	}
	errno = saved;
}

EXPORT int openat(int at, const char *path, int flags, ...)
{
	va_list values;
	mode_t mode;
	int file;

	va_start(values, flags);
	mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(values, mode_t) : 0;
	va_end(values);
	if (fails("open", at, path)) {
		return -1;
	}
	file = (int)syscall(SYS_openat, at, path, flags, mode);
	if (file >= 0 && (flags & O_ACCMODE) == O_RDONLY) {
		meddle(at, path);
	}
	return file;
}

EXPORT int __openat_2(int at, const char *path, int flags);
EXPORT int __openat_2(int at, const char *path, int flags)
{
	return openat(at, path, flags);
}

/* Fails as the rules say, by a file and what is relative to it; otherwise the call is made. */
#define FAILING(type, name, operation, at, path, parameters, call)     \
	EXPORT type name parameters                                    \
	{                                                              \
		return fails(operation, at, path) ? -1 : (type)(call); \
	}
FAILING(int, fstat, "fstat", file, "", (int file, struct stat *found), NEXT(fstat)(file, found))
FAILING(int, fstatat, "stat", at, path, (int at, const char *restrict path, struct stat *restrict found, int flags),
        NEXT(fstatat)(at, path, found, flags))
FAILING(ssize_t, pread, "read", file, "", (int file, void *bytes, size_t size, off_t offset),
        syscall(SYS_pread64, file, bytes, size, offset))
FAILING(ssize_t, write, "write", file, "", (int file, const void *bytes, size_t size),
        syscall(SYS_write, file, bytes, size))
FAILING(ssize_t, pwrite, "write", file, "", (int file, const void *bytes, size_t size, off_t offset),
        syscall(SYS_pwrite64, file, bytes, size, offset))
FAILING(int, renameat, "rename", from_at, from, (int from_at, const char *from, int to_at, const char *to),
        syscall(SYS_renameat2, from_at, from, to_at, to, 0))
FAILING(int, unlinkat, "unlink", at, path, (int at, const char *path, int flags),
        syscall(SYS_unlinkat, at, path, flags))
FAILING(int, mkdirat, "mkdir", at, path, (int at, const char *path, mode_t mode), syscall(SYS_mkdirat, at, path, mode))
FAILING(int, utimensat, "utimens", at, path, (int at, const char *path, const struct timespec times[2], int flags),
        syscall(SYS_utimensat, at, path, times, flags))

EXPORT int close(int file)
{
	bool failed = fails("close", file, "");
	int error = errno;
	int rc = (int)syscall(SYS_close, file);

	errno = failed ? error : errno;
	return failed ? -1 : rc;
}

EXPORT int fcntl(int file, int command, ...)
{
	va_list values;
	void *value;

	va_start(values, command);
	value = va_arg(values, void *);
	va_end(values);
	if ((command == F_OFD_SETLK || command == F_OFD_GETLK || command == F_OFD_SETLKW) && fails("lock", file, "")) {
		return -1;
	}
	return (int)syscall(SYS_fcntl, file, command, value);
}

EXPORT int fstatfs(int file, struct statfs *found)
{
	char whole[PATH_MAX];
	int rc = fails("statfs", file, "") ? -1 : (int)syscall(SYS_fstatfs, file, found);

	if (rc == 0 && rules_find("type") && path_of(file, "", whole) && below(whole)) {
		found->f_type = (__typeof__(found->f_type))rules_value("type", 0);
	}
	return rc;
}

/* All others that find files by a path, passed on: of a preload that replaces some of them nobody could tell whether it
 * leads elsewhere, and nothing that names a file would be served (interpose/watch/watch.h). */
EXPORT int open(const char *path, int flags, ...)
{
	va_list values;
	mode_t mode;

	va_start(values, flags);
	mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(values, mode_t) : 0;
	va_end(values);
	return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

EXPORT int open64(const char *path, int flags, ...) __attribute__((alias("open")));

#define PASSED(type, name, parameters, arguments) \
	EXPORT type name parameters               \
	{                                         \
		return NEXT(name) arguments;      \
	}
PASSED(FILE *, fopen, (const char *path, const char *mode), (path, mode))
PASSED(FILE *, fopen64, (const char *path, const char *mode), (path, mode))
PASSED(int, access, (const char *path, int mode), (path, mode))
PASSED(char *, realpath, (const char *path, char *resolved), (path, resolved))
PASSED(int, statx, (int at, const char *path, int flags, unsigned mask, struct statx *found),
       (at, path, flags, mask, found))

EXPORT int stat(const char *path, struct stat *found)
{
	return fstatat(AT_FDCWD, path, found, 0);
}

EXPORT int __xstat(int version, const char *path, struct stat *found);
EXPORT int __xstat(int version, const char *path, struct stat *found)
{
	return fstatat(AT_FDCWD, path, found, 0);
}

/* SPDX-License-Identifier: MIT */
#include "interpose/compile/log.h"

#include "cache/calls.h"
#include "cache/harmless.h"
#include "cache/output.h"

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

static _Atomic(const char *) log_path;
static _Atomic int log_level;

/*
 * 0: not recorded; CLOSED: descriptor 2 was closed, or a file that the host had opened; else a digest of its identity.
 */
#define CLOSED UINT64_C(1)
static _Atomic uint64_t stderr_noted;

static uint64_t file_identity(int descriptor)
{
	struct stat found;

	if (fstat(descriptor, &found) < 0) {
		return CLOSED;
	}
	const uint64_t parts[] = {found.st_dev, found.st_ino, found.st_rdev, found.st_mode & S_IFMT};

	return XXH3_64bits(parts, sizeof(parts)) | 2; /* neither 0 nor CLOSED */
}

void log_note_stderr(void)
{
	uint64_t none = 0;
	int saved = errno;
	int flags;

	if (atomic_load_explicit(&stderr_noted, memory_order_relaxed) == 0) {
		flags = fcntl(STDERR_FILENO, F_GETFD);
		/* the program itself opened a descriptor with FD_CLOEXEC, so it is not the inherited stderr */
		(void)atomic_compare_exchange_strong(
		    &stderr_noted, &none,
		    flags < 0 || (flags & FD_CLOEXEC) != 0 ? CLOSED : file_identity(STDERR_FILENO));
	}
	errno = saved;
}

static bool is_noted(int descriptor)
{
	uint64_t identity = file_identity(descriptor);

	return identity != CLOSED && identity == atomic_load_explicit(&stderr_noted, memory_order_relaxed);
}

bool log_may_write(const char *path, int descriptor)
{
	static const char *const names[] = {"/dev/stderr", "/dev/fd/2", "/proc/self/fd/2", "/proc/thread-self/fd/2"};
	size_t i = 0;

	while (i < sizeof(names) / sizeof(names[0]) && strcmp(path, names[i]) != 0) {
		i++;
	}
	return i == sizeof(names) / sizeof(names[0]) || is_noted(descriptor);
}

void log_open(const char *path, int level)
{
	log_note_stderr();
	atomic_store_explicit(&log_level, level, memory_order_relaxed);
	atomic_store_explicit(&log_path, path, memory_order_release);
}

bool log_wanted(enum log_level level)
{
	return atomic_load_explicit(&log_path, memory_order_acquire) &&
	       (int)level <= atomic_load_explicit(&log_level, memory_order_relaxed);
}

/* Converts days since 1970-01-01 to a Gregorian date. gmtime_r() reads TZ, takes locks and may open files. */
static void date_of(int64_t days, int *ret_year, int *ret_month, int *ret_day)
{
	int64_t since = days + 719468; /* from 0000-03-01 on: leap days come last in a year */
	int64_t era = since / 146097, day = since % 146097;
	int64_t year = (day - day / 1460 + day / 36524 - day / 146096) / 365;
	int64_t of_year = day - (365 * year + year / 4 - year / 100);
	int64_t month = (5 * of_year + 2) / 153;

	*ret_day = (int)(of_year - (153 * month + 2) / 5 + 1);
	*ret_month = (int)(month < 10 ? month + 3 : month - 9);
	*ret_year = (int)(year + era * 400 + (*ret_month <= 2));
}

/* "2026-11-22T14:02:11.123Z nvrtccache[4711]: " */
static int spell_head(char *ret_text, size_t room)
{
	struct timespec now = {0};
	int year, month, day, second;

	(void)clock_gettime(CLOCK_REALTIME, &now);
	if (now.tv_sec < 0) {
		now = (struct timespec){0};
	}
	date_of(now.tv_sec / 86400, &year, &month, &day);
	second = (int)(now.tv_sec % 86400);
	return snprintf(ret_text, room, "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ nvrtccache[%d]: ", year, month, day,
	                second / 3600, second / 60 % 60, second % 60, (int)(now.tv_nsec / 1000000), (int)getpid());
}

/* Descriptor 2 is duplicated, so that another thread cannot replace it between the check and the write. */
static void write_line(const char *path, const char *format, va_list arguments)
{
	const int flags = O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
	bool is_stderr = strcmp(path, "stderr") == 0;
	int saved = errno;
	int descriptor = is_stderr ? call_dup(STDERR_FILENO) : call_openat(AT_FDCWD, path, flags, 0600);
	char text[LOG_LINE_BYTES];
	size_t size = (size_t)spell_head(text, sizeof(text));

	(void)vsnprintf(text + size, sizeof(text) - size, format, arguments);
	harmless_text(text); /* which a terminal may interpret */
	size = strlen(text);
	text[size++] = '\n';
	if (descriptor >= 0) {
		if (is_stderr ? is_noted(descriptor) : log_may_write(path, descriptor)) {
			(void)output_line(descriptor, text, size);
		}
		(void)close(descriptor);
	}
	errno = saved;
}

void log_write(enum log_level level, const char *format, ...)
{
	va_list arguments;

	if (log_wanted(level)) {
		va_start(arguments, format);
		write_line(atomic_load_explicit(&log_path, memory_order_acquire), format, arguments);
		va_end(arguments);
	}
}

void log_stderr(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	write_line("stderr", format, arguments);
	va_end(arguments);
}

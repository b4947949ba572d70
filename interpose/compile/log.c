/* SPDX-License-Identifier: MIT */
#include "interpose/compile/log.h"

#include "cache/calls.h"
#include "cache/output.h"

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

static _Atomic(const char *) log_path;
static _Atomic int log_level;

void log_open(const char *path, int level)
{
	atomic_store_explicit(&log_level, level, memory_order_relaxed);
	atomic_store_explicit(&log_path, path, memory_order_release);
}

bool log_wanted(enum log_level level)
{
	return atomic_load_explicit(&log_path, memory_order_acquire) &&
	       (int)level <= atomic_load_explicit(&log_level, memory_order_relaxed);
}

void log_put(int descriptor, const char *line, size_t size)
{
	int saved = errno;

	(void)output_line(descriptor, line, size);
	errno = saved;
}

void log_write(enum log_level level, const char *format, ...)
{
	const char *path = atomic_load_explicit(&log_path, memory_order_acquire);
	char line[1024];
	int saved = errno;
	bool opened = log_wanted(level) && strcmp(path, "stderr") != 0;
	int descriptor = STDERR_FILENO;
	int head, body;
	size_t size;
	va_list arguments;

	if (!log_wanted(level)) {
		return;
	}
	head = snprintf(line, sizeof(line), "nvrtccache[%d]: ", (int)call_getpid());
	va_start(arguments, format);
	/* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): clang 14 misses va_start */
	body = vsnprintf(line + head, sizeof(line) - (size_t)head - 1, format, arguments);
	va_end(arguments);
	size = body < 0 ? (size_t)head : strlen(line);
	for (size_t i = 0; i < size; i++) {
		line[i] = (unsigned char)line[i] < ' ' ? ' ' : line[i];
	}
	line[size++] = '\n';
	if (opened) {
		descriptor = call_openat(AT_FDCWD, path,
		                         O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0600);
	}
	if (descriptor >= 0) {
		log_put(descriptor, line, size);
		if (opened) { /* which may be descriptor 2, where the host has none */
			(void)call_close(descriptor);
		}
	}
	errno = saved;
}

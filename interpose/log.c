/* SPDX-License-Identifier: MIT */
#include "interpose/log.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

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

static void block(const sigset_t *signals, sigset_t *ret_before, sigset_t *ret_pending)
{
	(void)sigpending(ret_pending);
	(void)pthread_sigmask(SIG_BLOCK, signals, ret_before);
}

/* Takes what the write has raised, which goes to its thread; what was pending before is the host's. */
static void take(int signal, const sigset_t *pending)
{
	const struct timespec at_once = {0, 0};
	sigset_t one;

	(void)sigemptyset(&one);
	(void)sigaddset(&one, signal);
	while (!sigismember(pending, signal) && sigtimedwait(&one, NULL, &at_once) < 0 && errno == EINTR) {
	}
}

void log_put(int descriptor, const char *line, size_t size)
{
	sigset_t signals, before, pending;
	int saved = errno;
	ssize_t written;

	(void)sigemptyset(&signals);
	(void)sigaddset(&signals, SIGPIPE);
	(void)sigaddset(&signals, SIGXFSZ);
	block(&signals, &before, &pending);
	do {
		written = write(descriptor, line, size);
	} while (written < 0 && errno == EINTR);
	if (written < 0 && (errno == EPIPE || errno == EFBIG)) {
		take(errno == EPIPE ? SIGPIPE : SIGXFSZ, &pending);
	}
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	errno = saved;
}

void log_write(enum log_level level, const char *format, ...)
{
	const char *path = atomic_load_explicit(&log_path, memory_order_acquire);
	char line[1024];
	int saved = errno;
	int descriptor = STDERR_FILENO;
	int head, body;
	size_t size;
	va_list arguments;

	if (!log_wanted(level)) {
		return;
	}
	head = snprintf(line, sizeof(line), "nvrtccache[%d]: ", (int)getpid());
	va_start(arguments, format);
	/* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): clang 14 misses va_start */
	body = vsnprintf(line + head, sizeof(line) - (size_t)head - 1, format, arguments);
	va_end(arguments);
	size = body < 0 ? (size_t)head : strlen(line);
	for (size_t i = 0; i < size; i++) {
		line[i] = (unsigned char)line[i] < ' ' ? ' ' : line[i];
	}
	line[size++] = '\n';
	if (strcmp(path, "stderr") != 0) {
		descriptor = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0600);
	}
	if (descriptor >= 0) {
		log_put(descriptor, line, size);
		if (descriptor != STDERR_FILENO) {
			(void)close(descriptor);
		}
	}
	errno = saved;
}

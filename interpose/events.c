/* SPDX-License-Identifier: MIT */
#include "interpose/events.h"

#include "interpose/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NAME_MAX_SHOWN 200

static _Atomic(const char *) events_path;

void events_open(const char *path)
{
	atomic_store_explicit(&events_path, path, memory_order_release);
}

/* A JSON string's inside; what is not plain ASCII shows as '?'. */
static void escape(const char *name, char *text)
{
	size_t out = 0;

	for (size_t i = 0; name && name[i] && out < NAME_MAX_SHOWN; i++) {
		unsigned char c = (unsigned char)name[i];

		if (c == '"' || c == '\\') {
			text[out++] = '\\';
		}
		text[out++] = c < 0x20 || c > 0x7e ? '?' : (char)c;
	}
	text[out] = '\0';
}

/* The array is opened by whoever makes the file. */
static int open_file(const char *path)
{
	int flags = O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
	int descriptor = open(path, flags | O_CREAT | O_EXCL, 0600);

	if (descriptor < 0) {
		return open(path, flags);
	}
	log_put(descriptor, "[\n", 2);
	return descriptor;
}

void events_write(const char *how, const char *name, int64_t start_ns, int64_t end_ns, int return_code)
{
	const char *path = atomic_load_explicit(&events_path, memory_order_acquire);
	char shown[NAME_MAX_SHOWN + 2];
	char line[512];
	int saved = errno;
	int descriptor, size;

	if (!path) {
		return;
	}
	escape(name ? name : "default_program", shown);
	size = snprintf(
	    line, sizeof(line),
	    "{\"name\":\"%s\",\"cat\":\"nvrtc\",\"ph\":\"X\",\"ts\":%lld.%03lld,\"dur\":%lld.%03lld,\"pid\":%d,"
	    "\"tid\":%ld,\"args\":{\"program\":\"%s\",\"result\":%d}},\n",
	    how, (long long)start_ns / 1000, (long long)start_ns % 1000, (long long)(end_ns - start_ns) / 1000,
	    (long long)(end_ns - start_ns) % 1000, (int)getpid(), (long)syscall(SYS_gettid), shown, return_code);
	descriptor = open_file(path);
	if (descriptor >= 0) {
		log_put(descriptor, line, (size_t)size);
		(void)close(descriptor);
	}
	errno = saved;
}

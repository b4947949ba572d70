/* SPDX-License-Identifier: MIT */
#include "agent/engine_kind.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

struct engine *engine_new(const struct engine_kind *kind, size_t size)
{
	struct engine *engine = calloc(1, size);

	if (engine != NULL) {
		engine->kind = kind;
	}
	return engine;
}

/* A server's words, and an address, may be of any bytes; they end on terminals and in logs. */
static void write_text(char *ret_text, size_t size, const char *format, va_list arguments)
{
	vsnprintf(ret_text, size, format, arguments);
	for (char *at = ret_text; *at != '\0'; at++) {
		if (iscntrl((unsigned char)*at)) {
			*at = '?';
		}
	}
}

void engine_say(struct engine *engine, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	write_text(engine->says, sizeof(engine->says), format, arguments);
	va_end(arguments);
}

void engine_tell(struct engine_error *error, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	write_text(error->text, sizeof(error->text), format, arguments);
	va_end(arguments);
}

const char *engine_prefix(const struct engine_options *options)
{
	return options->prefix != NULL ? options->prefix : "nvrtccache";
}

struct timespec engine_deadline(unsigned limit_ms)
{
	struct timespec when;

	clock_gettime(CLOCK_MONOTONIC, &when);
	when.tv_sec += limit_ms / 1000;
	when.tv_nsec += (long)(limit_ms % 1000) * 1000000;
	if (when.tv_nsec >= 1000000000) {
		when.tv_sec++;
		when.tv_nsec -= 1000000000;
	}
	return when;
}

unsigned engine_left_ms(const struct timespec *deadline)
{
	struct timespec now;
	long long left;

	clock_gettime(CLOCK_MONOTONIC, &now);
	left = (long long)(deadline->tv_sec - now.tv_sec) * 1000 + (deadline->tv_nsec - now.tv_nsec) / 1000000;
	return left > 0 ? (unsigned)left : 0;
}

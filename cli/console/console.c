/* SPDX-License-Identifier: MIT */
/*
 * Messages and tables contain untrusted names: of files, programs, options, entries. Text with such names is formatted
 * into memory first, and harmless_text() replaces control characters there, so that no name can move the cursor, clear
 * the screen or forge a line.
 */
#include "cli/console/console.h"

#include "cache/harmless.h"
#include "cache/tools/places.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Formats the text and makes it harmless. It is valid until the next call, and cut after 64 KiB. */
__attribute__((format(printf, 1, 0))) static const char *format_text(const char *format, va_list arguments)
{
	static char text[65536];

	(void)vsnprintf(text, sizeof(text), format, arguments);
	harmless_text(text);
	return text;
}

/* The line is covered with blanks to remove it, because a terminal may know no escape sequence. */
void console_status(const char *line)
{
	static int shown; /* columns */

	if (shown != 0 || *line != '\0') {
		fprintf(stderr, "\r%-*s\r", shown, line);
		shown = (int)strlen(line);
	}
}

void console_error(const char *format, ...)
{
	va_list arguments;

	console_status("");
	va_start(arguments, format);
	/* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): it is */
	fprintf(stderr, "nvrtccache: %s\n", format_text(format, arguments));
	va_end(arguments);
}

void console_vprint(FILE *stream, const char *format, va_list arguments)
{
	fputs(format_text(format, arguments), stream);
}

void console_print(FILE *stream, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	console_vprint(stream, format, arguments); /* NOLINT(clang-analyzer-valist.Uninitialized): it is */
	va_end(arguments);
}

void console_line(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	console_vprint(stdout, format, arguments); /* NOLINT(clang-analyzer-valist.Uninitialized): it is */
	va_end(arguments);
	putchar('\n');
}

const char *console_reason(int error)
{
	switch (error) {
	case -EPERM:
		return "not used, because it is another user's, or others can write to it: set NVRTCCACHE_DIR; chmod "
		       "go-w if it is yours alone; NVRTCCACHE_SHARED=1 if its group shares it";
	case -ENXIO:
		return "$HOME or $XDG_CACHE_HOME is missing or belongs to another user: set NVRTCCACHE_DIR";
	case -ENOTDIR:
		return "a symbolic link, or not a directory";
	case -EROFS:
		return "not written, because NVRTCCACHE_READONLY is set";
	case -EAGAIN:
		return "another process holds its lock";
	default:
		return strerror(-error);
	}
}

int console_refuse(const struct settings *settings, int error)
{
	console_error("%s: %s", settings->directory, console_reason(error));
	return EXIT_TROUBLE;
}

static void complain_of_unknown(const char *name, size_t size, const char *suggestion, void *context)
{
	(void)context;
	console_error("%.*s: unknown variable%s", (int)size, name, suggestion);
}

bool console_settings(struct settings *ret_settings)
{
	int error = settings_read(getenv, ret_settings);

	if (error != 0) {
		console_error("settings: %s", strerror(-error));
		return false;
	}
	for (int i = 0; i < ret_settings->complaint_count; i++) {
		const char *name = ret_settings->complaints[i];

		console_error("%s: bad value '%s' is ignored: it takes %s", name, getenv(name), settings_wanted(name));
	}
	settings_each_unknown(environ, complain_of_unknown, NULL);
	return true;
}

static void complain_of_place(const char *variable, const char *path, int error, void *context)
{
	(void)context;
	console_error("%s: '%s' cannot be used: %s", variable, path, console_reason(error));
}

void console_places(const struct settings *settings)
{
	places_each_trouble(settings, complain_of_place, NULL);
}

bool console_directory(const struct settings *settings)
{
	struct stat found;
	int error;

	if (settings->directory == NULL) {
		console_error(
		    "no cache directory: none of NVRTCCACHE_DIR, XDG_CACHE_HOME and HOME is an absolute path");
		return false;
	}
	/* the verb itself reports what is wrong with a directory that exists */
	error = lstat(settings->directory, &found) < 0 ? places_directory(settings) : 0;
	if (error != 0 && error != -ENOENT) {
		console_error("%s: cannot be created: %s", settings->directory, console_reason(error));
		return false;
	}
	return true;
}

const char *console_bytes(uint64_t bytes, char ret_text[CONSOLE_NUMBER_BYTES])
{
	static const char *const units[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
	double number = (double)bytes / 1024;
	size_t unit = 0;

	if (bytes < 1024) {
		snprintf(ret_text, CONSOLE_NUMBER_BYTES, "%" PRIu64 " byte%s", bytes, bytes == 1 ? "" : "s");
		return ret_text;
	}
	/* from 1023.95 on, "%.1f" would print 1024.0 of the smaller unit */
	for (; number >= 1023.95 && unit < 5; unit++) {
		number /= 1024;
	}
	snprintf(ret_text, CONSOLE_NUMBER_BYTES, "%.1f %s", number, units[unit]);
	return ret_text;
}

static const char *spell_time(uint64_t ns, int decimals, char ret_text[CONSOLE_NUMBER_BYTES])
{
	static const struct {
		double from_ns;
		double unit_ns;
		const char *name;
		/* days, hours and minutes begin at two: "90.0 s" says more than "1.5 min" */
	} units[] = {{2 * 86400e9, 86400e9, "days"},
	             {2 * 3600e9, 3600e9, "h"},
	             {2 * 60e9, 60e9, "min"},
	             {1e9, 1e9, "s"},
	             {1e6, 1e6, "ms"},
	             {1e3, 1e3, "us"},
	             {0, 1, "ns"}};
	size_t i = 0;

	if (ns == 0) {
		return "0 s";
	}
	/* the loop ends at the last row at the latest, because its limit is 0 */
	while ((double)ns < units[i].from_ns) {
		i++;
	}
	snprintf(ret_text, CONSOLE_NUMBER_BYTES, "%.*f %s", units[i].unit_ns > 1 ? decimals : 0,
	         (double)ns / units[i].unit_ns, units[i].name);
	return ret_text;
}

const char *console_time(uint64_t ns, char ret_text[CONSOLE_NUMBER_BYTES])
{
	return spell_time(ns, 1, ret_text);
}

const char *console_span(int64_t ns, char ret_text[CONSOLE_NUMBER_BYTES])
{
	/* whole seconds, and 0 for a time in the future */
	return spell_time(ns > 0 ? (uint64_t)ns / 1000000000 * 1000000000 : 0, 0, ret_text);
}

const char *console_moment(int64_t seconds, const char *format, char ret_text[CONSOLE_NUMBER_BYTES])
{
	time_t moment = (time_t)seconds;
	struct tm local;

	if (!localtime_r(&moment, &local) || strftime(ret_text, CONSOLE_NUMBER_BYTES, format, &local) == 0) {
		ret_text[0] = '\0';
	}
	return ret_text;
}

void console_json(struct json *json)
{
	if (json->failed) {
		console_error("%s", strerror(ENOMEM));
		exit(EXIT_TROUBLE);
	}
	fwrite(json->bytes, 1, json->size, stdout);
	json->size = 0;
}

void console_json_end(struct json *json)
{
	json_end_line(json);
	console_json(json);
	json_free(json);
}

int console_finish(int status)
{
	/* fflush() reports only its own write; an earlier write that failed has set the error flag of the stream */
	int failed = ferror(stdout);

	/* stays 0 if only an earlier write failed, whose errno value is lost */
	errno = 0;
	if (fflush(stdout) == 0 && !failed) {
		return status;
	}
	console_error("standard output: %s", errno != 0 ? strerror(errno) : "not written");
	return status == EXIT_DONE ? EXIT_TROUBLE : status;
}

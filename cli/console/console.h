/* SPDX-License-Identifier: MIT */
/*
 * console: messages, numbers for people, JSON and settings, for all verbs
 *
 * Purpose: every message on stderr begins with the program's name, all verbs print numbers in the forms below, and
 * every string in JSON is escaped in the same way. Threads: one. Errors: console_finish() reports output errors; the
 * other functions ignore them.
 */
#ifndef CLI_CONSOLE_H
#define CLI_CONSOLE_H

#include "cache/json.h"
#include "cache/settings.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

enum exit_status {
	EXIT_DONE = 0,
	EXIT_TROUBLE = 1,
	EXIT_USAGE = 2,
	EXIT_MISSED = 3, /* of `run --must-hit` only */
	/* of `run` only, same values as env(1) and timeout(1): not started, cannot be executed, not found */
	EXIT_NOT_STARTED = 125,
	EXIT_NOT_RUNNABLE = 126,
	EXIT_NOT_FOUND = 127
};

/* Prints "nvrtccache: ", the message and a line break on stderr. Harmful characters become '?' (cache/harmless.h). */
__attribute__((format(printf, 1, 2))) void console_error(const char *format, ...);
/*
 * Replaces the line on the terminal that shows the progress of work; "": no line. Call it with "" before anything else
 * is printed there; console_error() does that.
 */
void console_status(const char *line);
/* Prints text with untrusted names on `stream`, without a prefix or line break. Harmful characters become '?'. */
__attribute__((format(printf, 2, 3))) void console_print(FILE *stream, const char *format, ...);
__attribute__((format(printf, 2, 0))) void console_vprint(FILE *stream, const char *format, va_list arguments);
/* Prints a line of such text on stdout. */
__attribute__((format(printf, 1, 2))) void console_line(const char *format, ...);

/* Returns the reason why a directory or a file is not used, for a negative errno value. Not to be freed. */
const char *console_reason(int error);
/* Reports that reason on stderr for the directory of the settings. Returns EXIT_TROUBLE. */
int console_refuse(const struct settings *settings, int error);

/*
 * Reads the settings from the environment and reports bad values and unknown variables on stderr. Returns false after a
 * message; the exit status is then EXIT_TROUBLE.
 */
bool console_settings(struct settings *ret_settings);
/* Reports on stderr the log, trace and layers that cannot be used. */
void console_places(const struct settings *settings);
/* Returns false after a message if there is no cache directory and none can be created. */
bool console_directory(const struct settings *settings);

/*
 * Write "3.4 MiB" or "12 bytes"; "1.5 s" or "320 us"; "3 min", without smaller units than seconds. The caller
 * provides the buffer. The last two may return a constant text instead.
 */
#define CONSOLE_NUMBER_BYTES 48
const char *console_bytes(uint64_t bytes, char ret_text[CONSOLE_NUMBER_BYTES]);
const char *console_time(uint64_t ns, char ret_text[CONSOLE_NUMBER_BYTES]);
const char *console_span(int64_t ns, char ret_text[CONSOLE_NUMBER_BYTES]);
/* Writes a local time, as strftime() does; "" if it cannot be spelled. */
const char *console_moment(int64_t seconds, const char *format, char ret_text[CONSOLE_NUMBER_BYTES]);

/* Moves the JSON text written so far to stdout. Exits with EXIT_TROUBLE if the writer has run out of memory. */
void console_json(struct json *json);
/* Adds a line break, moves the JSON text to stdout as console_json() does, and frees the writer. */
void console_json_end(struct json *json);

/*
 * Flushes stdout. Returns `status`, or EXIT_TROUBLE if the status was EXIT_DONE and some output could not be written.
 */
int console_finish(int status);

#endif

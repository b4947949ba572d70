/* SPDX-License-Identifier: MIT */
/*
 * console: what the commands share: messages, numbers for people, JSON, settings
 *
 * Purpose: every message on stderr begins with the program's name; numbers for people have the forms below; every
 * string in JSON is escaped alike. Threads: one. Errors: output errors are seen once, by console_finish().
 */
#ifndef CLI_CONSOLE_H
#define CLI_CONSOLE_H

#include "cache/json.h"
#include "cache/settings.h"

#include <stdint.h>
#include <stdio.h>

enum exit_status {
	EXIT_DONE = 0,
	EXIT_TROUBLE = 1,
	EXIT_USAGE = 2,
	/* of `run` only, as env and timeout have them: not started at all, cannot be run, not found */
	EXIT_NOT_STARTED = 125,
	EXIT_NOT_RUNNABLE = 126,
	EXIT_NOT_FOUND = 127
};

/* Prints a line. Control characters become '?'. */
__attribute__((format(printf, 1, 2))) void console_error(const char *format, ...);
/* The same on a stream of one's choice, of a part of a line: names that others have given are in it. */
__attribute__((format(printf, 2, 3))) void console_print(FILE *stream, const char *format, ...);
/* Replaces control characters and bytes that are not UTF-8 by '?', in place. */
void console_disarm(char *text);
/* Sets the function that wipes a drawn line from the terminal; it is called before each message. */
void console_before_error(void (*wipe)(void));

/* Why a cache directory is not used: of a negative errno value. */
const char *console_reason(int error);
/* The same of the one in the settings, with whose it is, on stderr. Returns EXIT_TROUBLE. */
int console_refuse(const struct settings *settings, int error);
/* Prints a number and its noun without a line break: "1 entry", "81,204 entries". */
void console_print_count(uint64_t count, const char *one, const char *many);

/*
 * Reads the settings from the environment and reports bad values and unknown variables on stderr. Returns false after a
 * message; the exit status is then EXIT_TROUBLE.
 */
bool console_settings(struct settings *ret_settings);
/* Returns false after a message if there is no cache directory and none can be created. */
bool console_directory(const struct settings *settings);

/* "81,204"; "3.4 MiB", "12 bytes"; "1.5 s", "320 us". Buffers of CONSOLE_NUMBER_BYTES. */
#define CONSOLE_NUMBER_BYTES 48
const char *console_count(uint64_t count, char ret_text[CONSOLE_NUMBER_BYTES]);
const char *console_bytes(uint64_t bytes, char ret_text[CONSOLE_NUMBER_BYTES]);
const char *console_time(uint64_t ns, char ret_text[CONSOLE_NUMBER_BYTES]);
/* "3 min ago" of a time since 1970. */
const char *console_age(int64_t when_ns, char ret_text[CONSOLE_NUMBER_BYTES]);
/* The shortest text that reads back as this size: "5G", "1000". */
const char *console_size_setting(uint64_t bytes, char ret_text[CONSOLE_NUMBER_BYTES]);

/* Copies the JSON text written so far to stdout and drops it. Ends the process with EXIT_TROUBLE if memory runs out. */
void console_json(struct json *json);
/* The same with a line break, and the writer's end. */
void console_json_end(struct json *json);

/* --json is among the options. */
void console_want_json(void);
/*
 * Flushes stdout. Returns `status`, or EXIT_TROUBLE when something could not be written. If JSON was asked for and the
 * command failed before it printed anything, prints {"error": the last message}.
 */
int console_finish(int status);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * json_reader: reads JSON value by value, and builds no tree
 *
 * Purpose: the command reads two files of JSON, the trace (NVRTCCACHE_TRACE, interpose/compile/timeline.h) and the
 * journal (cache/journal.h). A value is a span of the text. json_reader_value() checks every byte of it; afterwards
 * json_reader_members() and json_reader_next() step through its members, and through theirs.
 *
 * Calling sequence: json_reader_load(), then json_reader_trace() for the events of a trace; or a reader with `at` and
 * `end`, and json_reader_value(). Text nested deeper than JSON_READER_DEPTH is rejected. Errors: `what` is wrong with
 * the byte at `at`; NULL: the text ended early. Threads: any. Ownership: spans point into the text of the caller.
 */
#ifndef CLI_CONSOLE_JSON_READER_H
#define CLI_CONSOLE_JSON_READER_H

#include "keygen/digest.h"

#include <stdbool.h>
#include <stdio.h>

#define JSON_READER_DEPTH 32

struct json_reader {
	const char *at, *end;
	const char *what;
	bool in_object; /* the next member has a name */
};

/* Reads one value and the blanks before it. Strings are UTF-8 without control characters. */
bool json_reader_value(struct json_reader *reader, struct span *ret_value);

/* Returns a reader of the members of an object or array that was read; any other value has none. */
struct json_reader json_reader_members(struct span value);
/* Reads the next member. `ret_name` is empty in an array, and has its escapes. Returns false after the last one. */
bool json_reader_next(struct json_reader *members, struct span *ret_name, struct span *ret_value);
/* Returns the first member with that name; its bytes are NULL if there is none. */
struct span json_reader_member(struct span object, const char *name);

/* Returns a string without its quotes, with its escapes; the bytes are NULL if the value is not a string. */
struct span json_reader_string(struct span value);
/* Returns the whole number that the value begins with; 0 if there is none. It is wrong if it has more than 64 bits. */
uint64_t json_reader_number(struct span value);
/*
 * Writes the bytes from which cache/json.h made this string with JSON_BYTES_KEPT, and returns how many there are. They
 * are never more than those of the string, and may replace it. An escaped character that cache/json.h does not escape
 * becomes '?'.
 */
size_t json_reader_decode(struct span string, char *ret_bytes);

/* Reads a stream to its end, or to its first NUL. The caller frees the text. Returns 0 or a negative errno value. */
int json_reader_load(FILE *file, char **ret_text, size_t *ret_size);

/*
 * The forms of a trace. WHOLE: an array of objects; it may lack its closing bracket, or both (what a pipe gets). CUT:
 * the last event is incomplete, because the process was killed or the disk was full.
 */
enum json_reader_ending { JSON_READER_WHOLE, JSON_READER_CUT, JSON_READER_BAD };

/* CUT: where the incomplete event begins. BAD: which byte is wrong, and why. */
struct json_reader_fault {
	size_t offset;
	const char *what;
};

/* Calls `each` for every complete event of a trace. Sets *ret_fault unless it returns JSON_READER_WHOLE. */
enum json_reader_ending json_reader_trace(const char *text, size_t size, void (*each)(void *context, struct span event),
                                          void *context, struct json_reader_fault *ret_fault);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * json_reader: reads JSON value by value, and builds no tree
 *
 * Purpose: the command reads the journal (cache/journal.h). A value is a span of the text. json_reader_value() checks
 * every byte of it; afterwards json_reader_members() and json_reader_next() step through its members, and theirs.
 *
 * Calling sequence: a reader with `at` and `end`, and json_reader_value(). Text nested deeper than JSON_READER_DEPTH is
 * rejected. Errors: `what` is wrong with the byte at `at`; NULL: the text ended early. Threads: any. Ownership: spans
 * point into the text of the caller.
 */
#ifndef CLI_CONSOLE_JSON_READER_H
#define CLI_CONSOLE_JSON_READER_H

#include "keygen/digest.h"

#include <stdbool.h>

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
 * Returns the bytes from which cache/json.h has made a string with JSON_BYTES_KEPT, in place of that string: the text
 * must be writable, and the members around the string cannot be read again. Any other value has no bytes.
 */
struct span json_reader_decode(struct span value);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * json: writes JSON piece by piece into memory: every --json, the trace, the journal, the data of a report
 *
 * Calling sequence: json_fixed() with a buffer of the caller's, or json_growing(); json_begin_object() or
 * json_begin_array(), members, json_end() for each that was begun; then look at `bytes` and `size`. Where
 * json_growing() was called, json_free(). A member's name is NULL in an array, and at the outermost level. Commas,
 * blanks and line breaks come by themselves: with `lines` 0 all of it is one line without blanks; else what stands on
 * the outer `lines` levels has a line of its own.
 *
 * Between two members one may use what has been written, and set `size` to 0: for output that is longer than one wants
 * to hold.
 *
 * Usable in a host process: no stdio, no locale; json_fixed() takes no memory, json_growing() takes malloc's.
 * Errors: what finds no room (or memory) sets `failed`, nothing is written after that, and what was written is no JSON.
 * Depth: at most JSON_DEPTH_MAX. Threads, signals, fork: no state. Ownership: texts are copied.
 */
#ifndef CACHE_JSON_H
#define CACHE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JSON_DEPTH_MAX 32

/*
 * What becomes of bytes that are not UTF-8: \udc80 to \udcff, as Python's surrogateescape has them, so that no byte is
 * lost; or the sign for a replaced character, for readers that take no lone surrogates (Perfetto's, serde's). SCRIPT:
 * kept, and nothing in the text can end an HTML element that holds it.
 */
enum json_bytes { JSON_BYTES_KEPT, JSON_BYTES_REPLACED, JSON_BYTES_SCRIPT };

struct json {
	char *bytes; /* no NUL behind it */
	size_t size, capacity;
	enum json_bytes spelling;
	unsigned lines, depth;
	uint32_t arrays, filled; /* a bit a level: is it an array, has it a member? */
	bool grows, failed;
};

struct json json_fixed(char *buffer, size_t capacity, enum json_bytes spelling);
struct json json_growing(enum json_bytes spelling, unsigned lines);
void json_free(struct json *json);

void json_begin_object(struct json *json, const char *name);
void json_begin_array(struct json *json, const char *name);
void json_end(struct json *json);

/* NULL: null. */
void json_string(struct json *json, const char *name, const char *text);
void json_text(struct json *json, const char *name, const void *text, size_t size);
/* So much of it as is at most `most` bytes between the quotes, whole characters only. */
void json_text_cut(struct json *json, const char *name, const void *text, size_t size, size_t most);
void json_number(struct json *json, const char *name, uint64_t number);
void json_integer(struct json *json, const char *name, int64_t number);
/* With three decimals: 1234567 is 1234.567. */
void json_thousandths(struct json *json, const char *name, int64_t number);
void json_bool(struct json *json, const char *name, bool value);
void json_null(struct json *json, const char *name);
/* What is JSON already: the caller answers for that. */
void json_raw(struct json *json, const char *name, const char *text, size_t size);

/* A string from several pieces: json_add_text() between the two, which returns how many bytes were written. */
void json_begin_string(struct json *json, const char *name);
size_t json_add_text(struct json *json, const void *text, size_t size, size_t most);
void json_end_string(struct json *json);

/* A line break behind the outermost value. */
void json_end_line(struct json *json);

/*
 * How many bytes of well-formed UTF-8 (no overlong forms, no surrogates, at most U+10FFFF) the first character has; 0:
 * none is there. `size` is not 0.
 */
size_t json_character(const char *bytes, size_t size);

/*
 * The inside of a string, without its quotes and without a NUL, into at most `capacity` bytes: whole characters only.
 * `ret_taken`: how much of the text that is. Returns how many bytes were written.
 */
size_t json_escape(char *ret_escaped, size_t capacity, const char *text, size_t size, enum json_bytes bytes,
                   size_t *ret_taken);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * json: writes JSON piece by piece into memory, for every --json, the trace and the data of a report
 *
 * Calling sequence: a struct of zeros; json_begin_object() or json_begin_array(), members, json_end() for each that was
 * begun; then use `bytes` and `size`; json_free(). A member's name is NULL in an array, and at the outermost level.
 * Commas are added automatically; the output is one line without blanks. Characters that a terminal (cache/harmless.h)
 * or HTML could interpret are escaped. A byte that is not UTF-8 is written as the replacement character U+FFFD, because
 * readers reject lone surrogates (Perfetto, serde).
 *
 * Between two members the caller may use the bytes written so far and set `size` to 0, so that long output need not be
 * in memory as a whole.
 *
 * Usable in a host process: no stdio except snprintf(), no locale; memory is of malloc().
 * Errors: if there is no memory, `failed` is set, nothing is written afterwards, and the output is not valid
 * JSON. Depth: at most 32 levels. Threads, signals, fork: no state. Ownership: texts are copied.
 */
#ifndef CACHE_JSON_H
#define CACHE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json {
	char *bytes; /* not terminated by a NUL */
	size_t size, capacity;
	unsigned depth;
	uint32_t arrays; /* one bit per level, the innermost lowest: it is an array */
	bool comma;      /* precedes the next member */
	bool failed;
};

void json_free(struct json *json);

void json_begin_object(struct json *json, const char *name);
void json_begin_array(struct json *json, const char *name);
void json_end(struct json *json);

/* `text` NULL is written as null. */
void json_string(struct json *json, const char *name, const char *text);
void json_text(struct json *json, const char *name, const void *text, size_t size);
/* Writes as many whole characters as fit in `most` bytes between the quotes. */
void json_text_cut(struct json *json, const char *name, const void *text, size_t size, size_t most);
void json_number(struct json *json, const char *name, int64_t number); /* sizes, times and counts are below 2^63 */
/* Writes a number with three decimals: 1234567 as 1234.567. */
void json_thousandths(struct json *json, const char *name, uint64_t number);
void json_bool(struct json *json, const char *name, bool value);

/* Writes a line break after the outermost value. */
void json_end_line(struct json *json);

#endif

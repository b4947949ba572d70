/* SPDX-License-Identifier: MIT */
/*
 * json: texts of any bytes, as JSON has them
 *
 * Threads, signals, fork: no state. Memory: none.
 */
#ifndef CACHE_JSON_H
#define CACHE_JSON_H

#include <stddef.h>

/*
 * How many bytes of well-formed UTF-8 (no overlong forms, no surrogates, at most U+10FFFF) the first character has; 0:
 * none is there. `size` is not 0.
 */
size_t json_character(const char *bytes, size_t size);

/*
 * What becomes of bytes that are not UTF-8: \udc80 to \udcff, as Python's surrogateescape has them, so that no byte is
 * lost; or the sign for a replaced character, for readers that take no lone surrogates (Perfetto's, serde's).
 */
enum json_bytes { JSON_BYTES_KEPT, JSON_BYTES_REPLACED };

/*
 * The inside of a string, without its quotes and without a NUL, into at most `capacity` bytes: whole characters only.
 * `ret_taken`: how much of the text that is. Returns how many bytes were written.
 */
size_t json_escape(char *ret_escaped, size_t capacity, const char *text, size_t size, enum json_bytes bytes,
                   size_t *ret_taken);

#endif

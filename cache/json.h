/* SPDX-License-Identifier: MIT */
/*
 * json: texts of any bytes, as JSON has them
 *
 * Bytes that are not UTF-8 become \udc80 to \udcff, as Python's surrogateescape has them: the text is valid JSON and no
 * byte is lost.
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
 * The inside of a string, without its quotes and without a NUL, into at most `capacity` bytes: whole characters only.
 * `ret_taken`: how much of the text that is. Returns how many bytes were written.
 */
size_t json_escape(char *ret_escaped, size_t capacity, const char *text, size_t size, size_t *ret_taken);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * harmless: makes text of unknown origin safe to print on a terminal
 *
 * Names of files, options, entries, and error texts of servers may contain bytes with which a terminal moves the
 * cursor, changes colours or reverses text. These are the control characters of ASCII (below U+0020, U+007F) and of C1
 * (U+0080 to U+009F), the separators of lines and paragraphs, the characters that control the direction of text, and
 * all bytes that are not well-formed UTF-8, because terminals differ in how they read those.
 *
 * Used for every message and table of the command and the agent, for the library's log, and for JSON, which escapes
 * such characters.
 * Threads, signals, fork: no state. Errors: none.
 */
#ifndef CACHE_HARMLESS_H
#define CACHE_HARMLESS_H

#include <stddef.h>
#include <stdint.h>

/*
 * Decodes the first character. Returns how many bytes it has, or 0 if it is not well-formed UTF-8 (no overlong forms,
 * no surrogates, at most U+10FFFF). `size` is not 0.
 */
size_t utf8_decode(const char *bytes, size_t size, uint32_t *ret_code);
/* Returns how many bytes the first character has; 0 if it is harmful or not well-formed. `size` is not 0. */
size_t harmless_character(const char *bytes, size_t size);
/* Replaces each byte of harmful characters with '?', in place. */
void harmless_text(char *text);

#endif

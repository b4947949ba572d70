/* SPDX-License-Identifier: MIT */
/*
 * digits: bytes as lowercase hexadecimal digits, and decimal numbers. Allocates nothing; may be called from anywhere.
 */
#ifndef CACHE_DIGITS_H
#define CACHE_DIGITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Size of the text for `size` bytes, with the NUL. */
#define DIGITS_BYTES(size) (2 * (size) + 1)

/* Bytes of the digests in lists (BLAKE2b-256). */
#define DIGITS_LISTED 32

/* Writes the digits and a NUL to `ret_text`, which has room for DIGITS_BYTES(size) bytes. Returns `ret_text`. */
const char *digits_spell(const uint8_t *bytes, size_t size, char *ret_text);
/* Parses the first 2 * `size` characters. Returns false if one of them is not a lowercase hexadecimal digit. */
bool digits_parse(const char *text, size_t size, uint8_t *ret_bytes);
/* Returns true if the digits of a digest are in a sorted list of `count` texts. */
bool digits_listed(const uint8_t bytes[DIGITS_LISTED], const char (*list)[DIGITS_BYTES(DIGITS_LISTED)], size_t count);
/*
 * Parses decimal digits. Returns the text after them, or NULL if there is no digit or the number is larger than `max`,
 * which is at least 9.
 */
const char *digits_number(const char *text, uint64_t max, uint64_t *ret_number);

#endif

/* SPDX-License-Identifier: MIT */
/* digits: bytes as hexadecimal digits, two each, in small letters. Allocates nothing; may be called from anywhere. */
#ifndef CACHE_DIGITS_H
#define CACHE_DIGITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of so many bytes, with the NUL. */
#define DIGITS_BYTES(size) (2 * (size) + 1)

/* `ret_text` has room for DIGITS_BYTES(size), and is what is returned. */
const char *digits_spell(const uint8_t *bytes, size_t size, char *ret_text);
/* Reads the first 2 * `size` characters, small letters only. False: one of them is not a digit. */
bool digits_parse(const char *text, size_t size, uint8_t *ret_bytes);

#endif

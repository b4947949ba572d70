/* SPDX-License-Identifier: MIT */
/*
 * texts: what NVRTC gave, made comparable and printable. Pure but for printing.
 */
#ifndef TESTS_CASES_TEXTS_H
#define TESTS_CASES_TEXTS_H

#include <stddef.h>
#include <stdint.h>

uint64_t text_hash(const char *bytes, size_t size);
/* In place; returns what is left of it. What differs from process to process is made alike (texts.c says what). */
size_t text_normalise(char *bytes, size_t size);
/* One line, with everything that is not plain text escaped. */
void text_print(const char *text, size_t size);

#endif

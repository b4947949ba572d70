/* SPDX-License-Identifier: MIT */
/*
 * plain: comparing strings without calling anybody
 *
 * Our dlsym is called before the sanitizers' runtimes have found the functions that they stand in for: AddressSanitizer
 * looks up strcmp through dlsym with its own strcmp already bound, and not yet working. So nothing on the way of a
 * dlsym that is no compiler's may call a string function of libc.
 */
#ifndef INTERPOSE_ELF_PLAIN_H
#define INTERPOSE_ELF_PLAIN_H

#include <stdbool.h>

/* Does `text` begin with `start`? */
static inline bool plain_begins(const char *text, const char *start)
{
	while (*start && *text == *start) {
		text++;
		start++;
	}
	return *start == '\0';
}

static inline bool plain_equal(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

#endif

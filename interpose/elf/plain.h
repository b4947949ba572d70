/* SPDX-License-Identifier: MIT */
/*
 * plain: string comparison without calls to other objects
 *
 * The exported dlsym is called before the sanitizers' runtimes have found the functions that they intercept:
 * AddressSanitizer looks up strcmp through dlsym while its own strcmp is bound but does not work yet. So a dlsym of a
 * name that is not a compiler's must not call a string function of libc.
 */
#ifndef INTERPOSE_ELF_PLAIN_H
#define INTERPOSE_ELF_PLAIN_H

#include <stdbool.h>

/* Returns true if `text` begins with `start`. */
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

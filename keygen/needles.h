/* SPDX-License-Identifier: MIT */
/*
 * needles: texts to find in artifacts, logs and lowered names
 *
 * A text is found as plain bytes; as 2- or 4-byte characters (NVRTC 11.8 to 13.5 widens each byte of a path in a wide
 * literal, also those of UTF-8); or as PTX writes constants: a list of byte values ("47, 116, 109, 112") or of the
 * little-endian words that the bytes form. Only the first PATH_MAX bytes of a longer needle are searched for.
 * Values that the compiler computes from a path (its length, a hash, one character, a local array built in registers)
 * are not found.
 *
 * Speed: one pass over the text for each needle, at the speed of memchr().
 *
 * Calling sequence: needles_search() per text, then read `found`. Errors: if there is no memory to search a text, every
 * needle counts as found.
 */
#ifndef KEYGEN_NEEDLES_H
#define KEYGEN_NEEDLES_H

#include <stdbool.h>
#include <stddef.h>

struct needle {
	const char *text;
	size_t size; /* 0: never found */
	bool found;  /* in any of the texts */
};

struct needles {
	struct needle *list;
	size_t count;
};

void needles_search(struct needles *needles, const void *text, size_t size);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * lowered: name expressions with their lowered names, as a section of NVRTC's results
 *
 * Purpose: one writer and one reader of these bytes, for the library, which answers by them, and for people.
 *
 * Calling sequence: lowered_put() per expression on a stream of the caller's; a cursor over its bytes, lowered_next()
 * until it says false. Errors: those of the stream; the cursor has `failed` where the bytes are damaged.
 * Ownership: texts point into the bytes.
 */
#ifndef KEYGEN_LOWERED_H
#define KEYGEN_LOWERED_H

#include "keygen/stream.h"

/* The section of an entry of NVRTC's that holds them. */
#define LOWERED_SECTION 2

struct lowered {
	const char *expression; /* ends with a NUL */
	int code;               /* what the compiler returned for it */
	const char *name;       /* ends with a NUL; NULL: none was given */
};

void lowered_put(struct stream *stream, const char *expression, int code, const char *name);
/* False: that was all, or the bytes are damaged. */
bool lowered_next(struct cursor *cursor, struct lowered *ret_lowered);

#endif

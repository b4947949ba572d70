/* SPDX-License-Identifier: MIT */
/*
 * lowered: name expressions and their lowered names, as a section of NVRTC's results
 *
 * Purpose: the writer and the reader of these bytes, for the library and for the command.
 *
 * Calling sequence: lowered_put() per expression on the caller's stream; lowered_next() on a cursor over the stream's
 * bytes until it returns false. Errors: those of the stream; the cursor has `failed` set if the bytes are damaged.
 * Ownership: texts point into the bytes.
 */
#ifndef KEYGEN_LOWERED_H
#define KEYGEN_LOWERED_H

#include "keygen/stream.h"

/* The section of NVRTC's entries that holds them. */
#define LOWERED_SECTION 2

struct lowered {
	const char *expression; /* ends with a NUL */
	int code;               /* what the compiler returned for it */
	const char *name;       /* ends with a NUL; NULL: NVRTC returned none */
};

void lowered_put(struct stream *stream, const char *expression, int code, const char *name);
/* Returns false at the end, or if the bytes are damaged. */
bool lowered_next(struct cursor *cursor, struct lowered *ret_lowered);

#endif

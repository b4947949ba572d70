/* SPDX-License-Identifier: MIT */
/*
 * recording: a request in a file, from which its calls can be made again (docs/DESIGN.md E)
 *
 * Purpose: with NVRTCCACHE_RECORD the library writes the arguments of a compilation beside its entry, and
 * `nvrtccache warm` makes the calls again with another release or for another architecture. Nothing else reads the
 * file. It is a stream (keygen/stream.h) between a magic number and a digest of both:
 *
 *     MAGIC, head, calls, BLAKE2b-256
 *     head    COMPILER, RELEASE, COST, RESULT, FLOATING_POINT, DIRECTORY?, BOUND?, LOCALE?, (VARIABLE, VALUE?)*
 *     calls   NVRTC      SOURCE, NAME?, (HEADER_NAME, HEADER_TEXT)*, (EXPRESSION*, OPTION*, CALL)*
 *             nvJitLink  OPTION*, (NAME?, BYTES, TYPE)*, CALL
 *             libNVVM    (NAME?, BYTES, TYPE)*, OPTION*, CALL
 *
 * Texts include their NUL. A variable without a VALUE was not set. CALL and TYPE are the numbers of `struct call` and
 * of the compiler's input. COST is in nanoseconds; RESULT the return code of the last call; LOCALE that of LC_NUMERIC;
 * BOUND is not 0 if the key contains the directory.
 *
 * Calling sequence: recording_put_*() on two streams, recording_seal(); recording_open() on the bytes of a file, then
 * cursor_next() on `calls`. After recording_open() every text ends with its only NUL, every number has 8 bytes, and all
 * tags are known. Errors: -EBADMSG. Threads: no state. Ownership: a recording points into the bytes.
 */
#ifndef KEYGEN_RECORDING_H
#define KEYGEN_RECORDING_H

#include "keygen/stream.h"

#define RECORDING_MAX ((size_t)512 << 20) /* bytes of a file */

/* X(NAME, number, kind), kind: TEXT, NUMBER or DATA. Tags from 16 on are calls. */
#define RECORDING_TAGS(X)            \
	X(COMPILER, 1, TEXT)         \
	X(RELEASE, 2, TEXT)          \
	X(COST, 3, NUMBER)           \
	X(FLOATING_POINT, 4, NUMBER) \
	X(DIRECTORY, 5, TEXT)        \
	X(BOUND, 6, NUMBER)          \
	X(RESULT, 10, NUMBER)        \
	X(LOCALE, 7, TEXT)           \
	X(VARIABLE, 8, TEXT)         \
	X(VALUE, 9, TEXT)            \
	X(SOURCE, 16, TEXT)          \
	X(NAME, 17, TEXT)            \
	X(HEADER_NAME, 18, TEXT)     \
	X(HEADER_TEXT, 19, TEXT)     \
	X(EXPRESSION, 20, TEXT)      \
	X(OPTION, 21, TEXT)          \
	X(BYTES, 22, DATA)           \
	X(TYPE, 23, NUMBER)          \
	X(CALL, 24, NUMBER)

enum recording_tag {
#define RECORDING_ENUM(name, number, kind) RECORDING_##name = (number),
	RECORDING_TAGS(RECORDING_ENUM)
#undef RECORDING_ENUM
};

/* `text` NULL: nothing is written. */
void recording_put_text(struct stream *stream, enum recording_tag tag, const char *text);
/* Joins head and calls to the bytes of a file. `failed` of the result: no memory, or larger than RECORDING_MAX. */
struct stream recording_seal(const struct stream *head, const struct stream *calls);

#define RECORDING_HEAD_TAGS 16

struct recording {
	/*
	 * The fields of the head by tag, of several the last; NULL, or 0: it has none. No DIRECTORY: unknown; no
	 * LOCALE: with a dot.
	 */
	const char *texts[RECORDING_HEAD_TAGS];
	uint64_t numbers[RECORDING_HEAD_TAGS];
	struct span head; /* the fields before the calls */
	struct cursor calls;
	size_t call_fields;
};

int recording_open(const void *bytes, size_t size, struct recording *ret_recording);
uint64_t recording_number(const struct span *field);

#endif

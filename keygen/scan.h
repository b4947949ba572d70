/* SPDX-License-Identifier: MIT */
/*
 * scan: what the text of a source, an option or a header says that conditions and keys cannot see (DESIGN B4, B6)
 *
 *   SCAN_TIME  __DATE__ or __TIME__: the result changes with the clock.
 *   SCAN_PATH  __FILE__ and its kin: the result may depend on how a path is spelled in ways that its text does not show
 *              (sizeof(__FILE__), one character of it, a hash computed by the compiler).
 *   SCAN_PLACE an absolute path in quotes or angle brackets that lies in one of the given places: it does not move when
 *              the place moves.
 * Found as text, so also in comments, and over the end of a line (a backslash and a newline in the middle of a name);
 * macros whose names are pasted together from pieces are not found.
 *
 * Calling sequence: pure functions; one pass over the text, 16 bytes at a time.
 * Errors: none. Threads, fork, signals: no state.
 */
#ifndef KEYGEN_SCAN_H
#define KEYGEN_SCAN_H

#include "keygen/request.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum scan_finding { SCAN_TIME = 1 << 0, SCAN_PATH = 1 << 1, SCAN_PLACE = 1 << 2 };

/* Text that may be cut off where two pieces of one text meet: give the last so many bytes again with the next piece. */
#define SCAN_OVERLAP 4112

struct places {
	const struct roots *roots;
	const char *cwd; /* may be NULL */
};

/* `places` NULL: SCAN_PLACE is not looked for. */
uint32_t scan_text(const void *text, size_t size, const struct places *places);

/*
 * Headers of CCCL that name __FILE__ in assertions and feature tests alone, where its text reaches the output whole or
 * not at all, and can be searched for there. Told by how their paths end.
 */
bool scan_path_is_exempt(const char *path);

#endif

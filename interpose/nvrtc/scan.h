/* SPDX-License-Identifier: MIT */
/*
 * scan: what a text that reaches the compiler says that dependencies and keys cannot see
 *
 *   SCAN_TIME  __DATE__ or __TIME__: the result changes with the clock.
 *   SCAN_PATH  __FILE__ and its kin: the result may depend on how a path is spelled in ways that its text does not show
 *              (sizeof(__FILE__), one character of it, a hash computed by the compiler).
 *   SCAN_PLACE one of the given places, or an absolute path in it: it does not move when the place moves.
 *
 * Every text is searched so: sources, headers in memory and on disk, options, name expressions, program names. Searched
 * is the text as the front end goes on with it: without line splices. NVRTC 11.8 to 13.5 take as one a backslash, any
 * number of carriage returns and a newline; up to C++14 "\?\?/" is a backslash too; in C++23 (13.5) blanks may stand
 * behind the backslash. All of these count in every text: removing too much joins more names, and none is lost by it.
 * The front end knows no other spelling of a name or a path (measured: universal character names, escapes in computed
 * includes, UTF-16, digraphs), as long as the path has none of the bytes that scan_spells_plainly() refuses.
 *
 * Found as text, so also in comments. Names and paths that macros paste together from pieces are not found.
 *
 * Calling sequence: scan_text() for a text in one piece; scan_begin(), scan_piece()..., `found` for one that comes in
 * pieces. One pass, 16 bytes at a time. scan_paths() keeps of a text what scan_text() needs to find SCAN_PLACE in it.
 * Errors: without memory, scan_text() says that all is there.
 */
#ifndef INTERPOSE_NVRTC_SCAN_H
#define INTERPOSE_NVRTC_SCAN_H

#include "keygen/roots.h"
#include "keygen/stream.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum scan_finding { SCAN_TIME = 1 << 0, SCAN_PATH = 1 << 1, SCAN_PLACE = 1 << 2 };

/* `places` NULL: SCAN_PLACE is not looked for. */
uint32_t scan_text(const void *text, size_t size, const struct places *places);

/*
 * SCAN_PATH where the text names a macro that may say __FILE__ unseen (scan.c has the list). For texts of the program:
 * headers on disk name such macros too often, and to assert.
 */
uint32_t scan_macros(const void *text, size_t size);

/* Room in front of each piece, where the end of the one before is kept: a name or path may straddle two. */
#define SCAN_ROOM 4112

struct scan {
	const struct places *places;
	uint32_t found;
	size_t kept; /* bytes in front of the next piece */
	size_t line; /* so many of them are of the line that it goes on with */
};

void scan_begin(struct scan *scan, const struct places *places);
/*
 * A place that ends where the piece ends counts as found. Writes to the piece, and to the SCAN_ROOM bytes in front of
 * it, which must still be as the last call left them.
 */
void scan_piece(struct scan *scan, uint8_t *piece, size_t size);

/*
 * Appends what could be absolute paths in the text, one to a line: scan_text() finds SCAN_PLACE in those lines where it
 * finds it in the text, whatever the places are. -ENOMEM.
 */
int scan_paths(const void *text, size_t size, struct stream *stream);

/* Has a path in that directory one spelling only, so that it can be looked for in a text? */
bool scan_spells_plainly(const char *directory, size_t size);

#endif

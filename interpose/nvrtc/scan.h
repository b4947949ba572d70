/* SPDX-License-Identifier: MIT */
/*
 * scan: searches the texts that the compiler reads for contents that keys and dependencies do not show
 *
 *   SCAN_TIME  __DATE__ or __TIME__: the result changes with the clock.
 *   SCAN_PATH  __FILE__ or a similar macro: the result may depend on a path in a way that does not show as its text
 *              (sizeof(__FILE__), one character of it, a hash computed by the compiler).
 *   SCAN_PLACE one of the given places, or an absolute path in it: it does not change when the place moves.
 *
 * Every text is searched: sources, headers in memory and on disk, options, name expressions, program names. The search
 * sees the text as the front end does after removing line splices. NVRTC 11.8 to 13.5 accept a backslash, any number of
 * carriage returns and a newline; up to C++14 "\?\?/" is a backslash too; in C++23 (13.5) blanks may follow the
 * backslash. All of these are removed from every text. Removing too many only joins more names, and no name is lost by
 * that. The front end knows no other spelling of a name or a path (measured: universal character names, escapes in
 * computed includes, UTF-16, digraphs), as long as the path has none of the bytes that scan_spells_plainly() rejects.
 *
 * Comments are searched too. Names (`__TIME__` too) and paths that macros concatenate are not found (docs/LIMITS.md).
 *
 * Calling sequence: pure functions. Errors: without memory, all findings are returned.
 */
#ifndef INTERPOSE_NVRTC_SCAN_H
#define INTERPOSE_NVRTC_SCAN_H

#include "keygen/surroundings.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum scan_finding { SCAN_TIME = 1 << 0, SCAN_PATH = 1 << 1, SCAN_PLACE = 1 << 2 };

/* Returns the findings in the text. `places` NULL: does not search for SCAN_PLACE. */
uint32_t scan_text(const void *text, size_t size, const struct places *places);
/*
 * The same for a text of the program, where the name of a macro that may expand to __FILE__ (scan.c has the list)
 * counts as SCAN_PATH, too. Headers on disk name such macros too often, in assertions.
 */
uint32_t scan_program_text(const void *text, size_t size, const struct places *places);

/* Returns true if a path in that directory has only one spelling, so that a text can be searched for it. */
bool scan_spells_plainly(const char *directory, size_t size);

#endif

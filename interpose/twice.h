/* SPDX-License-Identifier: MIT */
/*
 * twice: does the real library give the same again?
 *
 * From byte 40 or so LTO-IR and OptiX IR are sealed: all that follows hangs on all that is inside, the module id too,
 * which NVRTC makes of the second and the process where a text defines nothing with external linkage. Debug information
 * spells names byte by byte, with offsets that move with them. So whether two differ in that id alone cannot be seen.
 * What can be seen is whether NVRTC gives two for one request.
 *
 * Calling sequence: twice_alike() behind the real compile, while the program's creation run is there. Takes up to a
 * second and another compile, on a handle of its own. Threads, fork, signals: no state. Errors: not alike.
 */
#ifndef INTERPOSE_TWICE_H
#define INTERPOSE_TWICE_H

#include "interpose/program.h"

/* `first`: what the real library has just given for these options. */
bool twice_alike(const struct program *program, int option_count, const char *const *options,
                 const struct entry *first);

#endif

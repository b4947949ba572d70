/* SPDX-License-Identifier: MIT */
/*
 * twice: does the real library give the same again?
 *
 * From byte 40 or so LTO-IR and OptiX IR are sealed: all that follows hangs on all that is inside, the module id too,
 * which NVRTC makes of the second and the process where a text defines nothing with external linkage. Debug information
 * spells names byte by byte, with offsets that move with them. So whether two differ in that id alone cannot be seen.
 * What can be seen is whether NVRTC gives two for one request.
 *
 * Calling sequence: twice_ask() behind the real compile, while the handle's creation run is there. Takes up to five
 * more compiles, on handles of their own, and up to a second before them where module ids may be the difference.
 * Errors: not asked.
 */
#ifndef INTERPOSE_COMPILE_TWICE_H
#define INTERPOSE_COMPILE_TWICE_H

#include "interpose/compile/handle.h"
#include "interpose/compile/result.h"

enum twice {
	TWICE_UNASKED,  /* the handle cannot be made anew: by this compiler, after an earlier compile, without memory */
	TWICE_EXPECTED, /* it gives what was expected as well */
	TWICE_OTHER,    /* it gives something else */
	TWICE_SAME      /* each time what it gave at first */
};

/* `given`: what the real library has just given for these options; it is unlike `expected`, by that `difference`. */
enum twice twice_ask(const struct handle *handle, const struct call *call, const struct entry *expected,
                     const struct entry *given, enum results difference);

#endif

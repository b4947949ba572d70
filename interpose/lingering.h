/* SPDX-License-Identifier: MIT */
/*
 * lingering: options that work on in later compiles of the process
 *
 * In NVRTC 12.3 to 13.5 -restrict, once given, holds for every later compile of the process, whatever its options (its
 * PTX loads with ld.global.nc), and -opt-info=inline goes on filling logs (tests/integration/33-lingering.sh). In 13.0
 * the compile after failures with -fdevice-time-trace was seen to give other PTX. In 12.0 -split-compile changes what
 * later compiles inline, those with -split-compile too. What such a process makes is not what
 * its key says, and is kept only where the compile asks for the same itself. A hit gives what the compile alone gives.
 *
 * Calling sequence: lingering_note() before each real compile, lingering_spoils() after it, before it is kept.
 * Threads: any; a compile in one thread that begins before another ends spoils both. Fork: a child inherits what the
 * library has been through. Errors, signals: none.
 */
#ifndef INTERPOSE_LINGERING_H
#define INTERPOSE_LINGERING_H

#include "interpose/library.h"
#include "keygen/options.h"

/* `options` as the host gave them, sound or not. */
void lingering_note(struct library *library, int option_count, const char *const *options);
/* Has the library been given an option that lingers, and that these options lack? */
bool lingering_spoils(const struct library *library, const struct options *options);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * sticky: options that work on in later compiles of the process
 *
 * What a process makes after such an option is not what its key says, and is kept only where the compile asks for the
 * same itself. A hit gives what the compile alone gives. Which options those are is what scripts/sticky finds, that
 * plays every option that a release knows, with its values, before a set of victims; SEARCHED names the releases. In
 * later releases, what was clear in all of these counts as clear.
 *
 *   -restrict, -opt-info  12.3 and later: every later compile of the process, whatever its options (its PTX loads with
 *                         ld.global.nc; its log tells what was inlined)
 *   -dlto -gen-opt-lto    all that have it: later compiles with -split-compile inline otherwise
 *   -split-compile        12.0: what later compiles inline, those with -split-compile too
 *   -fdevice-time-trace   13.0: the compile after failures with it was seen to give other PTX
 *
 * A rule that needs no list: what follows a compile with an option that no search has cleared (struct options,
 * `uncleared`) is not kept either, but where it has the very same ones. Options that NVRTC refuses leave nothing
 * behind.
 *
 * Calling sequence: sticky_begin() before each real compile, sticky_end() after it; sticky_spoils() and
 * sticky_may_spoil() after that, before its result is kept.
 * Threads: any; a compile in one thread that begins before another ends spoils both. Fork: a child inherits what the
 * library has been through. Errors, signals: none; a compile that never ends spoils for good.
 */
#ifndef INTERPOSE_NVRTC_STICKY_H
#define INTERPOSE_NVRTC_STICKY_H

#include "interpose/compile/library.h"
#include "interpose/nvrtc/options.h"

/* X(release): scripts/sticky has found nothing there that would be kept; it asks for its release where it lacks. */
#define STICKY_SEARCHED(X) X(1300) X(1305)

struct sticky_call {
	struct library *library;
	uint64_t uncleared;
};

/* The call as the host made it, sound or not. */
void sticky_begin(struct library *library, const struct call *call, struct sticky_call *ret_sticky);
void sticky_end(const struct sticky_call *sticky, int result);
/* Has the library been given a sticky option that these options lack? */
bool sticky_spoils(const struct library *library, const struct options *options);
/* Or one of which it is not known? */
bool sticky_may_spoil(const struct library *library, const struct options *options);

#endif

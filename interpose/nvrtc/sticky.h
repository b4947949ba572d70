/* SPDX-License-Identifier: MIT */
/*
 * sticky: options of NVRTC with an effect on later compilations of the process (compile/handle.h)
 *
 * The list is the output of scripts/sticky, which runs every option that a release knows, with its values, before a set
 * of other compilations; STICKY_SEARCHED lists the releases. An option that had no effect in any of them is assumed to
 * have none in later releases.
 *
 *   -restrict, -opt-info  12.3 and later: every later compilation of the process, whatever its options (its PTX loads
 *                         with ld.global.nc; its log reports what was inlined)
 *   -dlto -gen-opt-lto    all releases that have it: later compilations with -split-compile inline differently
 *   -split-compile        12.0: later compilations inline differently, those with -split-compile too
 *   -fdevice-time-trace   13.0: the compilation after failures with it was seen to return other PTX
 *
 * Calling sequence: sticky_options() of each call; sticky_spoils() before a result is cached. Threads, fork, signals,
 * errors: as in compile/handle.h.
 */
#ifndef INTERPOSE_NVRTC_STICKY_H
#define INTERPOSE_NVRTC_STICKY_H

#include "interpose/compile/library.h"
#include "interpose/nvrtc/options.h"

/*
 * X(release): scripts/sticky has searched this release without finding an effect on cached results; it reports a
 * release that is missing here.
 */
#define STICKY_SEARCHED(X) X(1300) X(1305)

/* The compiler's lasting(). */
struct lasting sticky_options(const struct call *call);
/* Returns the reason why a result with these options must not be cached, or COUNTER_NONE. */
enum counter sticky_spoils(const struct library *library, const struct options *options);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * sticky: options with an effect on later compilations of the process
 *
 * After such an option, a result is not a function of its key. It is cached only if its compilation has the same
 * option. A hit returns what the compilation returns without earlier ones. The list is the output of scripts/sticky,
 * which runs every option that a release knows, with its values, before a set of other compilations; SEARCHED lists the
 * releases. An option that had no effect in any of them is assumed to have none in later releases.
 *
 *   -restrict, -opt-info  12.3 and later: every later compilation of the process, whatever its options (its PTX loads
 *                         with ld.global.nc; its log reports what was inlined)
 *   -dlto -gen-opt-lto    all releases that have it: later compilations with -split-compile inline differently
 *   -split-compile        12.0: later compilations inline differently, those with -split-compile too
 *   -fdevice-time-trace   13.0: the compilation after failures with it was seen to return other PTX
 *
 * One rule needs no list: after a compilation with options that no search has cleared (`uncleared` of struct options),
 * results are cached only if their compilations have exactly the same such options. Options that NVRTC rejects have no
 * effect.
 *
 * Calling sequence: sticky_begin() before each real compilation, sticky_end() after it; then sticky_spoils() and
 * sticky_may_spoil() before its result is cached. Threads: any; a compilation that begins before one in another thread
 * ends counts as affected, too. Fork: a child inherits the state of the library. Errors, signals: none; after a
 * compilation with uncleared options that never returns, no result is cached.
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

/* Records the options of the host's call, whether its arguments are valid or not. Returns the uncleared ones. */
uint64_t sticky_begin(struct library *library, const struct call *call);
void sticky_end(struct library *library, uint64_t uncleared, int result);
/* Returns true if the library was given a sticky option that these options lack. */
bool sticky_spoils(const struct library *library, const struct options *options);
/* Returns true if the library was given an option that no search has cleared and that these options lack. */
bool sticky_may_spoil(const struct library *library, const struct options *options);

#endif

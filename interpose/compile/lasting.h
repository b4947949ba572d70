/* SPDX-License-Identifier: MIT */
/*
 * lasting: options with an effect on later calls of the process
 *
 * After such an option, a result is not a function of its key. Options are sticky if a search has found an effect, and
 * uncleared if none has shown that there is none. A result is cached if its call has the same sticky options as earlier
 * ones, and exactly the same uncleared ones. A hit returns what the call returns without earlier ones, so hits are
 * served. Uncleared options that the library rejects have no effect; sticky ones count nevertheless.
 *
 * Calling sequence: lasting_begin() before each real call and lasting_end() after it; then lasting_spoils() before its
 * result is cached. Threads: any; a call that begins before one in another thread ends counts as affected, too. So
 * sticky options are recorded before the call. Fork: a child inherits the state of the library. Errors, signals: none;
 * after a call with uncleared options that never returns, no result is cached.
 */
#ifndef INTERPOSE_COMPILE_LASTING_H
#define INTERPOSE_COMPILE_LASTING_H

#include "interpose/compile/library.h"

/* Returns the options of the host's call, whether its arguments are valid or not. */
struct lasting lasting_begin(struct library *library, const struct call *call);
void lasting_end(struct library *library, const struct lasting *lasting, int result);
/* Records uncleared options of a call that has succeeded. */
void lasting_note(struct library *library, uint64_t uncleared);
/*
 * Returns the reason why a result of the library must not be cached, or COUNTER_NONE. `spoiling`: the sticky options
 * that affect it; `uncleared`: its own.
 */
enum counter lasting_spoils(const struct library *library, uint32_t spoiling, uint64_t uncleared);

#endif

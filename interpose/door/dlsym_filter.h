/* SPDX-License-Identifier: MIT */
/*
 * dlsym_filter: decides what the host's dlsym and dlvsym return (docs/DESIGN.md)
 *
 * Purpose: doors.S calls door_prepare() for every symbol that begins with 'n', '_' or 'd'; it decides in
 * a few comparisons whether the name is a compiler's, or dlsym's own, and looks at objects that were loaded since. For
 * all other names dlsym.S jumps to the next dlsym in load order (next_symbol.h).
 *
 * Rules: the real look-up is done once, with the host's handle. If it fails, the host gets that failure with the real
 * dlerror text. A name that the real library lacks stays NULL. errno does not change. For a name that is no compiler's
 * there is no log, no allocation, no environment and no lock. A door of a compiler may set up the library (a private
 * name gives the compiler up, which is recorded).
 *
 * RTLD_DEFAULT: a name that the global scope has is the same definition for every caller, so it can be looked up from
 * here. Otherwise, if the caller is a library, its own scope is searched through its handle. If neither has the name,
 * the real look-up runs with the real caller. RTLD_NEXT: a caller that asks for the next definition is another
 * interposer. It may forward some of a compiler's functions and not others, so it gets doors too. The objects after the
 * caller are searched, and the result is used if the loader gives this library the same answer; otherwise the real
 * look-up runs.
 *
 * dlsym, dlvsym: another library that hooks these and comes behind this one must not get the functions of this library
 * for the real ones, because they call its own (tests/integration/54-hooks.sh).
 */
#ifndef INTERPOSE_DOOR_DLSYM_FILTER_H
#define INTERPOSE_DOOR_DLSYM_FILTER_H

#include <stdint.h>

/*
 * Returns the function to which a call of a door (doors.S) with these arguments must jump. Numbers from
 * DOORS_UNKNOWN_MAX on are dlsym.S's: they jump to the next dlsym, or to a function that returns arguments[0], which is
 * then the answer.
 */
void *door_prepare(unsigned number, uintptr_t arguments[6], void *caller);

#endif

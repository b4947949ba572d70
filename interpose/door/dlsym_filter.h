/* SPDX-License-Identifier: MIT */
/*
 * dlsym_filter: decides what the host's dlsym and dlvsym return (docs/DESIGN.md)
 *
 * Purpose: dlsym.S calls dlsym_filter() for every symbol that begins with 'n', '_' or 'd'; it decides in a few
 * comparisons whether the name is a compiler's, or dlsym's own, and looks at objects that were loaded since. For all
 * other names dlsym.S jumps to the next dlsym in
 * load order (next_symbol.h).
 *
 * Rules: the real look-up is done once, with the host's handle. If it fails, the host gets that failure with the real
 * dlerror text. A name that the real library lacks stays NULL. There is no log, no allocation, no environment, no lock;
 * errno does not change.
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

#include "interpose/elf/next_symbol.h"

#include <stddef.h>

struct dlsym_answer {
	void *address;
	size_t handled; /* 0: continue at next_symbol_functions[which] */
};

struct dlsym_answer dlsym_filter(void *handle, const char *name, const char *version, void *caller,
                                 enum next_symbol_which which);

#endif

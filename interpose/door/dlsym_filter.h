/* SPDX-License-Identifier: MIT */
/*
 * dlsym_filter: what the host's dlsym and dlvsym give out (docs/DESIGN.md A4, A6)
 *
 * Purpose: dlsym.S sends every call here whose symbol begins with 'n' or '_'; dlsym_filter() decides in a few
 * compares whether the name is a compiler's. All others go on by a jump to the next dlsym in line (next_symbol.h).
 *
 * Rules of the filter: the real look-up is done once, with the host's handle, and its failure is the host's failure
 * with the host's dlerror text; a name that the real library lacks stays NULL; no log, no allocation, no environment,
 * no lock; errno as found.
 *
 * RTLD_DEFAULT: if the global scope has the name, every caller gets that definition, so it may be looked up from here;
 * else, if the caller is a library, its own scope is searched through its handle; what neither finds is left to
 * the real look-up with the real caller. RTLD_NEXT: who asks for the next definition after itself is another
 * interposer; it may forward some of a compiler's functions and not others, so it gets our doors too. The objects behind it
 * are looked through, and the answer counts where the loader's own answer for us is the same; else it is left to the
 * real look-up.
 */
#ifndef INTERPOSE_DOOR_DLSYM_FILTER_H
#define INTERPOSE_DOOR_DLSYM_FILTER_H

#include "interpose/elf/next_symbol.h"

#include <stddef.h>

struct dlsym_answer {
	void *address;
	size_t handled; /* 0: jump on to next_symbol_functions[which] */
};

struct dlsym_answer dlsym_filter(void *handle, const char *name, const char *version, void *caller,
                                 enum next_symbol_which which);

#endif

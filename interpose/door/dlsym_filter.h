/* SPDX-License-Identifier: MIT */
/*
 * dlsym_filter: what the host's dlsym and dlvsym return (docs/DESIGN.md A4, A6)
 *
 * Purpose: dlsym.S sends every call here whose symbol begins with 'n' or '_'; dlsym_filter() decides in a few compares
 * whether the name is a compiler's. For all other names dlsym.S jumps to the next dlsym in load order (next_symbol.h).
 *
 * Rules: the real look-up is done once, with the host's handle, and its failure is the host's failure with the host's
 * dlerror text; a name that the real library lacks stays NULL; no log, no allocation, no environment, no lock; errno
 * stays.
 *
 * RTLD_DEFAULT: if the global scope has the name, every caller gets that definition, so it is looked up from here.
 * Otherwise, if the caller is a library, its own scope is searched through its handle. If neither finds the name, the
 * real look-up runs with the real caller. RTLD_NEXT: a caller that asks for the next definition is another interposer.
 * It may forward some of a compiler's functions and not others, so it gets doors too. The objects after it are
 * searched, and the result is used if the loader gives this library the same answer; otherwise the real look-up runs.
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

/* SPDX-License-Identifier: MIT */
/*
 * forward: the dlsym and dlvsym that stand behind ours (docs/DESIGN.md A4, A6)
 *
 * Purpose: dlsym_*.S sends every call here whose symbol begins with 'n' or '_'; forward_filter() decides in a few
 * compares whether the name is NVRTC's. All others go on by a jump to the next dlsym in line: libc's, or that of
 * another preloaded library behind us. The next ones are found once, without dlsym, by looking through the loaded
 * objects behind ours.
 *
 *     forward_next[i]: resolver --first call of any--> the next dlsym/dlvsym of the same version
 *
 * Rules of the filter: the real look-up is done once, with the host's handle, and its failure is the host's failure
 * with the host's dlerror text; a name that the real library lacks stays NULL; no log, no allocation, no environment,
 * no lock; errno as found.
 *
 * RTLD_DEFAULT: if the global scope has the name, every caller gets that definition, so it may be looked up from here;
 * else, if the caller is a library, its own scope is searched through its handle; what neither finds is left to
 * the real look-up with the real caller. RTLD_NEXT: who asks for the next definition after itself is another
 * interposer; it may forward some of NVRTC's functions and not others, so it gets our doors too. The objects behind it
 * are looked through, and the answer counts where the loader's own answer for us is the same; else it is left to the
 * real look-up.
 */
#ifndef INTERPOSE_FORWARD_H
#define INTERPOSE_FORWARD_H

#include <stddef.h>
#include <stdint.h>

enum forward_which { FORWARD_DLSYM_OLD, FORWARD_DLSYM, FORWARD_DLVSYM_OLD, FORWARD_DLVSYM, FORWARD_COUNT };

struct forward_answer {
	void *address;
	size_t handled; /* 0: jump on to forward_next[which] */
};

struct forward_answer forward_filter(void *handle, const char *name, const char *version, void *caller,
                                     enum forward_which which);
void forward_bootstrap(void);

/* The next dlvsym(RTLD_DEFAULT, name, version) (version NULL: dlsym) in line; 0 where there is nothing. Changes
 * dlerror. */
uintptr_t forward_global(const char *name, const char *version);

/* The next dlvsym in line, called from our own code (RTLD_NEXT: behind us). Changes dlerror. */
void *forward_dlvsym(void *handle, const char *name, const char *version);

extern void *forward_next[FORWARD_COUNT];

#endif

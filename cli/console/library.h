/* SPDX-License-Identifier: MIT */
/*
 * library: the libnvrtccache.so that `run` and `env` preload, and whether the loader will take it
 *
 * What cannot be preloaded is a line of ld.so's on stderr and nothing more: the program would run without a cache. So
 * it is loaded here first, as the program's loader will (the library does nothing until NVRTC is used).
 */
#ifndef CLI_LIBRARY_H
#define CLI_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

/* A malloc'ed absolute path: NVRTCCACHE_LIBRARY, else where it is installed. NULL: none, said why. */
char *library_find(void);
/*
 * The copies of the library that this process was started with, by LD_PRELOAD or /etc/ld.so.preload, and so is each
 * program that it starts: in load order, so that the first one is active (docs/COMPATIBILITY.md). Returns how many.
 */
struct library_copy {
	const char *path, *version; /* "libnvrtccache 0.1.0"; both live as long as the process */
};
size_t library_preloaded(struct library_copy ret_copies[], size_t capacity);

/* False: it cannot be loaded, or is another library; said why. */
bool library_loads(const char *path);

/*
 * Puts the library in front of what LD_PRELOAD holds in this process's environment. A copy that is preloaded already
 * stays the only one. False: there is none that can be preloaded, or no memory; said why.
 */
bool library_preload(void);
/* Takes every copy out of LD_PRELOAD; the other libraries stay. False: no memory. */
bool library_leave(void);

#endif

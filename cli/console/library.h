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

/*
 * Returns a malloc'ed absolute path: NVRTCCACHE_LIBRARY, otherwise the installed library. NULL after a message: none
 * was found.
 */
char *library_find(void);
/*
 * The copies of the library that this process was started with, by LD_PRELOAD or /etc/ld.so.preload, and so is each
 * program that it starts: in load order, so that the first one is active (docs/COMPATIBILITY.md). Returns how many.
 */
struct library_copy {
	const char *path, *version; /* "libnvrtccache 0.1.0"; both live as long as the process */
};
size_t library_preloaded(struct library_copy ret_copies[], size_t capacity);

/* Returns false after a message if it cannot be loaded or is another library. */
bool library_loads(const char *path);

/*
 * Puts the library in front of LD_PRELOAD in the environment of this process. If a copy is preloaded already, it stays
 * the only one. Returns false after a message: no library can be preloaded, or no memory.
 */
bool library_preload(void);
/* Takes every copy out of LD_PRELOAD; the other libraries stay. False: no memory. */
bool library_leave(void);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * library: the libnvrtccache.so that `run` preloads, and whether the loader will take it
 *
 * What cannot be preloaded is a line of ld.so's on stderr and nothing more: the program would run without a cache. So
 * it is loaded here first, as the program's loader will (the library does nothing until NVRTC is used).
 */
#ifndef CLI_LIBRARY_H
#define CLI_LIBRARY_H

#include <stdbool.h>

/* A malloc'ed absolute path: NVRTCCACHE_LIBRARY, else where it is installed. NULL: none, said why. */
char *library_find(void);
/* False: it cannot be loaded, or is another library; said why. */
bool library_loads(const char *path);

#endif

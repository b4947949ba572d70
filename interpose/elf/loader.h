/* SPDX-License-Identifier: MIT */
/*
 * loader: the loader's own functions, where the process has them
 *
 * Purpose: before glibc 2.34 dlopen, dlclose, dlinfo and dlerror are libdl's. A preload that needs libdl brings it into
 * every process, and the library shall need libc alone; so here they are weak. Every compiler's library needs libdl, and
 * so does every program that opens one: a process without it has nothing that we could open again.
 *
 * Calling sequence: loader_open_again(); what it gives may be passed to dlinfo() and dlclose(). Errors: NULL, and the
 * host's dlerror state has changed until loader_forget_error(). Threads: any. Not under the loader's lock.
 */
#ifndef INTERPOSE_ELF_LOADER_H
#define INTERPOSE_ELF_LOADER_H

#include <dlfcn.h>
#include <stddef.h>

#pragma weak dlopen
#pragma weak dlclose
#pragma weak dlinfo
#pragma weak dlerror

/* An object that is loaded, by its path, with one reference more; `flags` beside RTLD_LAZY and RTLD_NOLOAD. */
static inline void *loader_open_again(const char *path, int flags)
{
	return dlopen ? dlopen(path, RTLD_LAZY | RTLD_NOLOAD | flags) : NULL;
}

static inline void loader_forget_error(void)
{
	if (dlerror) {
		(void)dlerror();
	}
}

#endif

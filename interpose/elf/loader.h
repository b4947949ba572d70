/* SPDX-License-Identifier: MIT */
/*
 * loader: the loader's own functions, if the process has them
 *
 * Purpose: before glibc 2.34 dlopen, dlclose, dlinfo and dlerror are in libdl. A preload that needs libdl would load it
 * into every process, and this library may need only libc, so the references are weak. Every compiler library needs
 * libdl, and so does every program that opens one, so a process without libdl has no compiler library to open again.
 *
 * Calling sequence: loader_open_again(); its result may be passed to dlinfo() and dlclose(). Errors: NULL, and the
 * host's dlerror state has changed until loader_forget_error() clears it. Threads: any. Not to be called under the
 * loader's lock.
 */
#ifndef INTERPOSE_ELF_LOADER_H
#define INTERPOSE_ELF_LOADER_H

#include <dlfcn.h>
#include <limits.h>
#include <stddef.h>

#pragma weak dlopen
#pragma weak dlclose
#pragma weak dlinfo
#pragma weak dlerror

/* Returns a new reference to a loaded object, by its path; `flags` are added to RTLD_LAZY and RTLD_NOLOAD. */
static inline void *loader_open_again(const char *path, int flags)
{
	return dlopen ? dlopen(path, RTLD_LAZY | RTLD_NOLOAD | flags) : NULL;
}

/* Clears the dlerror state of this thread. */
static inline void loader_forget_error(void)
{
	if (dlerror) {
		(void)dlerror();
	}
}

/*
 * loader_search: finds the file that the loader would open when a library opens another one by plain name
 *
 * The search has the loader's order: the search path of the opening library (RTLD_DI_SERINFO: RPATH, LD_LIBRARY_PATH,
 * RUNPATH); ld.so.cache; the default directories. No file is loaded. Once per library, the loader is asked for its list
 * of objects.
 *
 * Calling sequence: loader_search() for a loaded library. Errors: UNKNOWN or NOWHERE; the dlerror state is cleared.
 * Threads: any.
 */

enum loader_search {
	LOADER_SEARCH_NOWHERE,
	LOADER_SEARCH_FOUND,
	/* the loader selects among directories for processor variants, or its order is not known (--inhibit-cache) */
	LOADER_SEARCH_UNKNOWN
};

struct loader_file {
	int descriptor; /* the caller reads and closes it */
	char path[PATH_MAX];
};

/* Finds the file of `name`. `handle` is the opening library's, from dlopen(). `ret_file` is valid if FOUND. */
enum loader_search loader_search(void *handle, const char *name, struct loader_file *ret_file);

#endif

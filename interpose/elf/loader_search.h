/* SPDX-License-Identifier: MIT */
/*
 * loader_search: finds the file that the loader would open for a library that another one opens by plain name
 *
 * In the loader's order: the search path of the library that opens it (RTLD_DI_SERINFO: RPATH, LD_LIBRARY_PATH,
 * RUNPATH); ld.so.cache; the default directories.
 *
 * Calling sequence: loader_search() for a loaded library. Errors: UNKNOWN or NOWHERE; dlerror is cleared. Threads:
 * any.
 */
#ifndef INTERPOSE_ELF_LOADER_SEARCH_H
#define INTERPOSE_ELF_LOADER_SEARCH_H

#include <stddef.h>

enum loader_search {
	LOADER_SEARCH_NOWHERE,
	LOADER_SEARCH_FOUND,
	LOADER_SEARCH_UNKNOWN /* it may be in a directory per processor variant, which only the loader selects */
};

/* `library`: the path under which the opening library is loaded. `path` is written if FOUND. */
enum loader_search loader_search(const char *library, const char *name, char *path, size_t path_size);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * loader_search: where the loader would find a library that another one opens by plain name
 *
 * In the loader's order: along the search path of the library that asks (RTLD_DI_SERINFO: RPATH, LD_LIBRARY_PATH,
 * RUNPATH); in ld.so.cache; in the default directories.
 *
 * Calling sequence: loader_search() for a library that is loaded. Errors: what cannot be told is UNKNOWN or NOWHERE;
 * dlerror is cleared. Threads: any.
 */
#ifndef INTERPOSE_ELF_LOADER_SEARCH_H
#define INTERPOSE_ELF_LOADER_SEARCH_H

#include <stddef.h>

enum loader_search {
	LOADER_SEARCH_NOWHERE,
	LOADER_SEARCH_FOUND,
	LOADER_SEARCH_UNKNOWN /* it may be in a variant per processor, which only the loader knows */
};

/* `library`: the path under which the one that asks is loaded. `path` is written where it is found. */
enum loader_search loader_search(const char *library, const char *name, char *path, size_t path_size);

#endif

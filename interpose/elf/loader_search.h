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

#include <limits.h>

enum loader_search {
	LOADER_SEARCH_NOWHERE,
	LOADER_SEARCH_FOUND,
	LOADER_SEARCH_UNKNOWN /* it may be in a directory per processor variant, which only the loader selects */
};

struct loader_file {
	int descriptor; /* to be read and closed by the caller */
	char path[PATH_MAX];
};

/* `library`: the path under which the opening library is loaded. `ret_file` is valid if FOUND. */
enum loader_search loader_search(const char *library, const char *name, struct loader_file *ret_file);

#endif

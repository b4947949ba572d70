/* SPDX-License-Identifier: MIT */
/*
 * loader_search: finds the file that the loader would open when a library opens another one by plain name
 *
 * The search has the loader's order: the search path of the opening library (RTLD_DI_SERINFO: RPATH, LD_LIBRARY_PATH,
 * RUNPATH); ld.so.cache; the default directories.
 *
 * Calling sequence: loader_search() for a loaded library. Errors: UNKNOWN or NOWHERE; the dlerror state is cleared.
 * Threads: any.
 */
#ifndef INTERPOSE_ELF_LOADER_SEARCH_H
#define INTERPOSE_ELF_LOADER_SEARCH_H

#include <limits.h>

enum loader_search {
	LOADER_SEARCH_NOWHERE,
	LOADER_SEARCH_FOUND,
	LOADER_SEARCH_UNKNOWN /* it may be in a directory for a processor variant, which the loader selects */
};

struct loader_file {
	int descriptor; /* the caller reads and closes it */
	char path[PATH_MAX];
};

/*
 * Finds the file of `name`. `library` is the path under which the opening library is loaded. `ret_file` is valid if
 * FOUND.
 */
enum loader_search loader_search(const char *library, const char *name, struct loader_file *ret_file);

#endif

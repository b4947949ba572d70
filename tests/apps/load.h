/* SPDX-License-Identifier: MIT */
/*
 * load: opens a library and fills a table of function pointers, one dlsym per name
 */
#ifndef APPS_LOAD_H
#define APPS_LOAD_H

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* `table` has room for `count` function pointers. On failure `why` says what is missing. */
static inline bool load_table(void *handle, const char *const *names, size_t count, void *table, char *why,
                              size_t why_size)
{
	for (size_t i = 0; i < count; i++) {
		void *function = dlsym(handle, names[i]);

		if (!function) {
			snprintf(why, why_size, "no %s", names[i]);
			return false;
		}
		memcpy((char *)table + i * sizeof(function), &function, sizeof(function));
	}
	return true;
}

static inline void *load_library(const char *name, char *why, size_t why_size)
{
	void *handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);

	if (!handle) {
		snprintf(why, why_size, "%s", dlerror());
	}
	return handle;
}

#endif

/* SPDX-License-Identifier: MIT */
/*
 * load: opens a library and fills a table of function pointers, one dlsym per name; and the driver's table (launch.h)
 */
#ifndef APPS_LOAD_H
#define APPS_LOAD_H

#include "functions.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

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

static struct {
	DRIVER_FUNCTIONS(FUNCTION_MEMBER)
} driver;
static const char *missing_driver;

#define DRIVER(function) driver.function
#define DRIVER_MISSING   missing_driver

static inline void load_driver(void)
{
	static const char *const names[] = {DRIVER_FUNCTIONS(FUNCTION_NAME)};
	static char why[256];
	void *handle = load_library("libcuda.so.1", why, sizeof(why));

	if (!handle || !load_table(handle, names, COUNT(names), &driver, why, sizeof(why))) {
		missing_driver = why;
	}
}

#endif

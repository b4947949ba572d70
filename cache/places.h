/* SPDX-License-Identifier: MIT */
/*
 * places: checks whether the files and directories that the settings name can be used
 *
 * The checks change nothing: a missing file counts as usable if its directory can be written. The answers are displayed
 * (doctor, config, the log) and decide nothing, because they may be out of date when a file is written.
 *
 * Threads: any. Errors: negative errno values; -EPERM: not trusted (cache/trust.h). errno is not preserved.
 */
#ifndef CACHE_PLACES_H
#define CACHE_PLACES_H

#include "cache/settings.h"

/* Returns 0 if a line could be appended to this file. */
int places_file(const char *path);

enum place_state {
	PLACES_THERE,   /* it exists and is trusted */
	PLACES_MISSING, /* it does not exist and could be created */
	PLACES_REFUSED  /* it cannot be used; `ret_error` says why */
};
/* Checks the cache directory. */
enum place_state places_directory(const struct settings *settings, int *ret_error);

/* Called for a path of NVRTCCACHE_LOG, _TRACE or _LOWER that cannot be used. `path` is `size` bytes long. */
typedef void places_trouble(const char *variable, const char *path, size_t size, int error, void *context);
void places_each_trouble(const struct settings *settings, places_trouble *each, void *context);

#endif

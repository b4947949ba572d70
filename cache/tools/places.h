/* SPDX-License-Identifier: MIT */
/*
 * places: checks whether the files and directories that the settings name can be used
 *
 * The checks change nothing: a missing file counts as usable if its directory can be written. The answers are displayed
 * (doctor, config) and decide nothing, because they may be out of date when a file is written.
 *
 * Threads: any. Errors: negative errno values; -EPERM: not trusted (cache/trust.h). errno is not preserved.
 */
#ifndef CACHE_TOOLS_PLACES_H
#define CACHE_TOOLS_PLACES_H

#include "cache/settings.h"

/*
 * Checks the cache directory. Returns 0 if it exists and is trusted, -ENOENT if it does not exist and could be created,
 * or another negative errno value if it cannot be used.
 */
int places_directory(const struct settings *settings);

/* Called for a path of NVRTCCACHE_LOG, _TRACE or _LOWER that cannot be used. */
typedef void places_trouble(const char *variable, const char *path, int error, void *context);
void places_each_trouble(const struct settings *settings, places_trouble *each, void *context);

#endif

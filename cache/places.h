/* SPDX-License-Identifier: MIT */
/*
 * places: checks whether the files and directories that the settings name can be used
 *
 * The checks change nothing: a missing file counts as usable if its directory can be written. The answers are for
 * people (doctor, config, the log): they may be out of date when something is written.
 *
 * Threads: any. Errors: negative errno values; -EPERM: not trusted (cache/trust.h). errno is not preserved.
 */
#ifndef CACHE_PLACES_H
#define CACHE_PLACES_H

#include "cache/settings.h"

/* Could a line be added to this file? */
int places_file(const char *path);

enum place_state {
	PLACES_THERE,   /* it is there, and trusted */
	PLACES_MISSING, /* it is not, and could be made */
	PLACES_REFUSED  /* neither; `ret_error` says why */
};
/* Of a cache directory. */
enum place_state places_directory(const struct settings *settings, int *ret_error);

/* Of LOG, TRACE and LOWER: what cannot be used. `path` is `size` bytes long. */
typedef void places_trouble(const char *variable, const char *path, size_t size, int error, void *context);
void places_each_trouble(const struct settings *settings, places_trouble *each, void *context);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * places: can the files and directories that the settings name be used?
 *
 * Looks, and makes nothing: a file that is not there yet counts as one that can be made where its directory may be
 * written. For who wants to tell people; nobody's work hangs on it, as what it says may have changed by then.
 *
 * Threads: any. Fork, signals: no state. Errors: negative errno values. -EPERM: not trusted (cache/trust.h). errno is
 * not kept.
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

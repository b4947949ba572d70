/* SPDX-License-Identifier: MIT */
/*
 * The checks make the same decisions as the library when it opens these files, but create nothing. They cannot be
 * exact, because another process may change rights between the check and the use.
 */
#include "cache/tools/places.h"

#include "cache/calls.h"
#include "cache/directory.h"
#include "cache/trust.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * Called for a path of which opening has said ENOENT, so that what exists of its parents are directories. Returns 0 if
 * it could be created; with ABOVE_ALL also if directories above it are missing. Uses AT_EACCESS, because access()
 * checks the real user, but the effective user creates the file.
 */
enum above { ABOVE_ONE, ABOVE_ALL };
static int try_make(const char *path, enum above above)
{
	char parent[PATH_MAX];
	int error;

	if (snprintf(parent, sizeof(parent), "%s%s", path[0] == '/' ? "" : "./", path) >= (int)sizeof(parent)) {
		return -ENAMETOOLONG;
	}
	do {
		*strrchr(parent, '/') = '\0';
		error = faccessat(AT_FDCWD, parent[0] ? parent : "/", W_OK | X_OK, AT_EACCESS) < 0 ? -errno : 0;
	} while (error == -ENOENT && above == ABOVE_ALL);
	return error;
}

/* Opens a directory of the cache, as a look-up does. */
static int try_directory(const char *path, bool shared)
{
	const struct directory directory = {path, shared};
	int home, error = directory_open(&directory, DIRECTORY_REACH, &home);

	if (error == 0) {
		close(home);
	}
	return error;
}

/* A root without a home counts as existing, because the first store creates the home. */
int places_directory(const struct settings *settings)
{
	const char *path = settings->directory;
	int error = path ? try_directory(path, settings->shared) : -ENXIO;
	struct stat found;

	if (error == 0 || !path || lstat(path, &found) == 0) {
		return error == -ENOENT ? 0 : error;
	}
	if (!ground_base_allows(path, settings->base_length, settings->base_is_home)) {
		return -ENXIO;
	}
	error = error == -ENOENT ? try_make(path, ABOVE_ALL) : error;
	return error ? error : -ENOENT;
}

/* Opens the file for appending, as the log and the trace do, and closes it; nothing is created. */
static int try_file(const char *path)
{
	int file = call_openat(AT_FDCWD, path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0);

	if (file < 0) {
		return errno == ENOENT ? try_make(path, ABOVE_ONE) : -errno;
	}
	close(file);
	return 0;
}

/* Checks the log, the trace, then each element of the list. */
void places_each_trouble(const struct settings *settings, places_trouble *each, void *context)
{
	int log = settings->log && strcmp(settings->log, "stderr") != 0 ? try_file(settings->log) : 0;
	int trace = settings->trace ? try_file(settings->trace) : 0;
	char *list = strdup(settings->lower ? settings->lower : "");
	char *rest = NULL;

	if (log) {
		each("NVRTCCACHE_LOG", settings->log, log, context);
	}
	if (trace) {
		each("NVRTCCACHE_TRACE", settings->trace, trace, context);
	}
	for (char *path = list ? strtok_r(list, ":", &rest) : NULL; path; path = strtok_r(NULL, ":", &rest)) {
		int error = try_directory(path, settings->shared);

		if (error) {
			each("NVRTCCACHE_LOWER", path, error, context);
		}
	}
	free(list);
}

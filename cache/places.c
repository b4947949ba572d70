/* SPDX-License-Identifier: MIT */
/*
 * The checks make the same decisions as the library when it opens these files, but create nothing. They cannot be
 * exact, because another process may change rights between the check and the use.
 */
#include "cache/places.h"

#include "cache/calls.h"
#include "cache/directory.h"
#include "cache/ground.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

/* Returns whether the directory belongs to the kernel, where creating files fails for root, too: proc, sysfs. */
static bool is_the_kernels(const char *path)
{
	struct statfs found;

	return statfs(path, &found) == 0 && (found.f_type == 0x9fa0 || found.f_type == 0x62656572);
}

/*
 * Returns 0 if a file can be created in this directory. Uses AT_EACCESS, because access() checks the real user, but the
 * effective user creates the file.
 */
static int can_make_in(const char *path)
{
	struct stat found;

	if (stat(path, &found) < 0) {
		return -errno;
	}
	if (!S_ISDIR(found.st_mode)) {
		return -ENOTDIR;
	}
	if (faccessat(AT_FDCWD, path, W_OK | X_OK, AT_EACCESS) < 0) {
		return -errno;
	}
	return is_the_kernels(path) ? -ENOTSUP : 0;
}

/* Returns 0 if a missing path could be created; with ABOVE_ALL also if directories above it are missing. */
enum above { ABOVE_ONE, ABOVE_ALL };
static int can_make(const char *path, enum above above)
{
	char parent[PATH_MAX];
	int error, size = snprintf(parent, sizeof(parent), "%s%s", path[0] == '/' ? "" : "./", path);

	if (size < 0 || (size_t)size >= sizeof(parent)) {
		return -ENAMETOOLONG;
	}
	do {
		char *slash = strrchr(parent, '/');

		slash[slash == parent] = '\0';
		error = can_make_in(parent);
	} while (error == -ENOENT && above == ABOVE_ALL && parent[1] != '\0');
	return error;
}

/* Opens the file for appending, as the log and the trace do, and closes it; nothing is created. */
int places_file(const char *path)
{
	int file = call_openat(AT_FDCWD, path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0);

	if (file < 0) {
		return errno == ENOENT ? can_make(path, ABOVE_ONE) : -errno;
	}
	call_close(file);
	return 0;
}

/* Returns whether the library would not create the default directory: its base is missing or another user's. */
static bool base_forbids(const struct settings *settings)
{
	char base[PATH_MAX];
	int size = snprintf(base, sizeof(base), "%.*s", (int)settings->base_length, settings->directory);

	return size > 0 && ((size_t)size >= sizeof(base) || !ground_base_allows(base, settings->base_is_home));
}

/* A root without a home counts as existing, because the first store creates the home. */
enum place_state places_directory(const struct settings *settings, int *ret_error)
{
	const struct directory directory = {.path = settings->directory, .shared = settings->shared};
	struct stat found;
	int home, error;

	if (!settings->directory) {
		*ret_error = -ENXIO;
		return PLACES_REFUSED;
	}
	error = directory_open(&directory, DIRECTORY_REACH, &home);
	if (error == 0) {
		call_close(home);
		return PLACES_THERE;
	}
	if (error == -ENOENT && lstat(settings->directory, &found) == 0) {
		return PLACES_THERE; /* nothing has been stored in it yet */
	}
	if (lstat(settings->directory, &found) < 0 && base_forbids(settings)) {
		error = -ENXIO;
	} else if (error == -ENOENT) {
		error = can_make(settings->directory, ABOVE_ALL);
	}
	if (error == 0) {
		return PLACES_MISSING;
	}
	*ret_error = error;
	return PLACES_REFUSED;
}

/* A variable that is not set (`path` is NULL) needs no file. */
static void check_file(const char *variable, const char *path, places_trouble *each, void *context)
{
	int error = path ? places_file(path) : 0;

	if (error != 0) {
		each(variable, path, strlen(path), error, context);
	}
}

/* Copies the path, because an element of a list has no terminator. */
static void check_lower(const struct settings *settings, const char *path, size_t size, places_trouble *each,
                        void *context)
{
	char copy[PATH_MAX];
	const struct directory directory = {.path = copy, .shared = settings->shared};
	int home, error = -ENAMETOOLONG;

	if (size < sizeof(copy)) {
		memcpy(copy, path, size);
		copy[size] = '\0';
		error = directory_open(&directory, DIRECTORY_REACH, &home);
	}
	if (error == 0) {
		call_close(home);
	} else {
		each("NVRTCCACHE_LOWER", path, size, error, context);
	}
}

/* Checks the log, the trace, then each element of the list. */
void places_each_trouble(const struct settings *settings, places_trouble *each, void *context)
{
	const char *lower = settings->lower ? settings->lower : "";

	if (settings->log && strcmp(settings->log, "stderr") != 0) {
		check_file("NVRTCCACHE_LOG", settings->log, each, context);
	}
	check_file("NVRTCCACHE_TRACE", settings->trace, each, context);
	while (*lower) {
		size_t size = strcspn(lower, ":");

		if (size) {
			check_lower(settings, lower, size, each, context);
		}
		lower += size + (lower[size] == ':');
	}
}

/* SPDX-License-Identifier: MIT */
/*
 * The checks make the same decisions as the library when it opens these files, but create nothing. They cannot be
 * exact, because another process may change rights between the check and the use.
 */
#include "cache/places.h"

#include "cache/calls.h"
#include "cache/directory.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/statfs.h>
#include <unistd.h>

/*
 * Removes the last part of a path: "/a/b" becomes "/a", and "/a" becomes "/". Returns false if there is none, as in
 * "/".
 */
static bool strip_part(char *path)
{
	char *slash = strrchr(path, '/');

	if (!slash || (slash == path && path[1] == '\0')) {
		return false;
	}
	slash[slash == path] = '\0';
	return true;
}

/* Returns whether the directory belongs to the kernel (such as /proc), where creating files fails for root, too. */
static bool is_the_kernels(const char *path)
{
	/* proc, sysfs, debugfs, tracefs, securityfs, devpts, selinuxfs */
	static const uint32_t kinds[] = {0x9fa0, 0x62656572, 0x64626720, 0x74726163, 0x73636673, 0x1cd1, 0xf97cff8c};
	struct statfs found;

	if (statfs(path, &found) < 0) {
		return false;
	}
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if ((uint32_t)found.f_type == kinds[i]) {
			return true;
		}
	}
	return false;
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

/* Opens the file for appending, as the log and the trace do, and closes it; nothing is created. */
int places_file(const char *path)
{
	char above[PATH_MAX] = ".";
	int file = call_openat(AT_FDCWD, path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0);

	if (file >= 0) {
		call_close(file);
		return 0;
	}
	if (errno != ENOENT) {
		return -errno;
	}
	if (strlen(path) >= sizeof(above)) {
		return -ENAMETOOLONG;
	}
	if (strchr(path, '/')) {
		strcpy(above, path);
		strip_part(above);
	}
	return can_make_in(above);
}

/* Returns 0 if a missing root, and the missing directories above it, could be created. */
static int can_make_root(const char *path)
{
	char above[PATH_MAX];
	int error = -ENOENT;

	if (strlen(path) >= sizeof(above)) {
		return -ENAMETOOLONG;
	}
	strcpy(above, path);
	while (error == -ENOENT && strip_part(above)) {
		error = can_make_in(above);
	}
	return error;
}

/* O_PATH needs no right on the directory itself, and O_NOFOLLOW does not follow a link. */
static bool is_there(const char *path)
{
	int place = call_openat(AT_FDCWD, path, O_PATH | O_NOFOLLOW | O_CLOEXEC, 0);

	if (place >= 0) {
		call_close(place);
	}
	return place >= 0;
}

/* A root without a home counts as existing, because the first store creates the home. */
enum place_state places_directory(const struct settings *settings, int *ret_error)
{
	const struct directory directory = {.path = settings->directory, .shared = settings->shared};
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
	if (error == -ENOENT && is_there(settings->directory)) {
		return PLACES_THERE; /* nothing has been stored in it yet */
	}
	if (error == -ENOENT) {
		error = can_make_root(settings->directory);
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

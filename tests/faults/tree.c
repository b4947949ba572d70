/* SPDX-License-Identifier: MIT */
#include "tests/faults/tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

typedef bool each(const char *path, const char *name, const struct stat *found, void *context);

static bool for_each(const char *path, each *body, void *context)
{
	DIR *names = opendir(path);
	struct dirent *entry;
	bool good = names != NULL;

	while (good && (entry = readdir(names)) != NULL) {
		char inner[PATH_MAX];
		struct stat found;

		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
			snprintf(inner, sizeof(inner), "%s/%s", path, entry->d_name);
			good = lstat(inner, &found) == 0 && body(inner, entry->d_name, &found, context);
		}
	}
	if (names) {
		closedir(names);
	}
	return good;
}

bool tree_read(const char *path, char **ret_bytes, size_t *ret_size)
{
	int file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOATIME); /* use shows in the atime */
	struct stat found;
	char *bytes = NULL;
	bool good = file >= 0 && fstat(file, &found) == 0 && S_ISREG(found.st_mode) &&
	            (bytes = malloc((size_t)found.st_size + 1)) != NULL &&
	            read(file, bytes, (size_t)found.st_size) == (ssize_t)found.st_size;

	if (file >= 0) {
		close(file);
	}
	if (good) {
		bytes[found.st_size] = '\0';
		*ret_bytes = bytes;
		*ret_size = (size_t)found.st_size;
	} else {
		free(bytes);
	}
	return good;
}

bool tree_write(const char *path, const char *bytes, size_t size)
{
	int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	bool good = file >= 0 && write(file, bytes, size) == (ssize_t)size;

	if (file >= 0) {
		close(file);
	}
	return good;
}

static bool copy_one(const char *path, const char *name, const struct stat *found, void *to_directory)
{
	const struct timespec times[2] = {found->st_atim, found->st_mtim};
	char to[PATH_MAX];
	char *bytes;
	size_t size;
	bool good;

	snprintf(to, sizeof(to), "%s/%s", (const char *)to_directory, name);
	if (S_ISDIR(found->st_mode)) {
		good = tree_copy(path, to);
	} else {
		good = tree_read(path, &bytes, &size);
		if (good) {
			good = tree_write(to, bytes, size) && chmod(to, found->st_mode & 07777) == 0;
			free(bytes);
		}
	}
	return good && utimensat(AT_FDCWD, to, times, AT_SYMLINK_NOFOLLOW) == 0;
}

bool tree_copy(const char *from, const char *to)
{
	struct stat found;

	return stat(from, &found) == 0 && mkdir(to, 0700) == 0 && chmod(to, found.st_mode & 07777) == 0 &&
	       for_each(from, copy_one, (void *)(uintptr_t)to);
}

static bool remove_one(const char *path, const char *name, const struct stat *found, void *context)
{
	(void)name;
	(void)context;
	return S_ISDIR(found->st_mode) ? tree_remove(path) : unlink(path) == 0;
}

bool tree_remove(const char *path)
{
	struct stat found;

	if (lstat(path, &found) != 0) {
		return errno == ENOENT || errno == ENOTDIR;
	}
	if (!S_ISDIR(found.st_mode)) {
		return unlink(path) == 0;
	}
	/* whoever is not root can remove nothing from one without permissions */
	return chmod(path, 0700) == 0 && for_each(path, remove_one, NULL) && rmdir(path) == 0;
}

struct walk {
	tree_visit *visit;
	void *context;
	size_t root_size;
};

static bool walk_one(const char *path, const char *name, const struct stat *found, void *context)
{
	const struct walk *walk = context;

	(void)name;
	if (S_ISDIR(found->st_mode)) {
		return for_each(path, walk_one, context);
	}
	walk->visit(walk->context, path, path + walk->root_size, found);
	return true;
}

void tree_walk(const char *path, tree_visit *visit, void *context)
{
	struct walk walk = {visit, context, strlen(path) + 1};

	(void)for_each(path, walk_one, &walk);
}

bool tree_age(const char *path, int64_t seconds)
{
	struct timespec times[2];

	(void)clock_gettime(CLOCK_REALTIME, &times[0]);
	times[0].tv_sec -= seconds;
	times[1] = times[0];
	return utimensat(AT_FDCWD, path, times, AT_SYMLINK_NOFOLLOW) == 0;
}

/* SPDX-License-Identifier: MIT */
#include "tests/faults/tree.h"

#include <limits.h>
#include <string.h>
#include <time.h>

static FTS *begin_walk(const char *path)
{
	char *const roots[] = {(char *)(uintptr_t)path, NULL};

	return fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
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

static bool copy_file(const char *from, const char *to)
{
	char *bytes;
	size_t size;
	bool good = tree_read(from, &bytes, &size);

	if (good) {
		good = file_write(to, bytes, size);
		free(bytes);
	}
	return good;
}

/* A directory is made before what is in it, and gets its mode and its times after that. */
static bool copy_one(const FTSENT *found, const char *to)
{
	const struct timespec times[2] = {found->fts_statp->st_atim, found->fts_statp->st_mtim};

	if (found->fts_info == FTS_D) {
		return mkdir(to, 0700) == 0;
	}
	return (found->fts_info == FTS_DP || copy_file(found->fts_accpath, to)) &&
	       chmod(to, found->fts_statp->st_mode & 07777) == 0 &&
	       utimensat(AT_FDCWD, to, times, AT_SYMLINK_NOFOLLOW) == 0;
}

bool tree_copy(const char *from, const char *to)
{
	FTS *walk = begin_walk(from);
	bool good = walk != NULL;
	FTSENT *found;

	while (good && (found = fts_read(walk)) != NULL) {
		char place[PATH_MAX];

		snprintf(place, sizeof(place), "%s%s", to, found->fts_path + strlen(from));
		good = copy_one(found, place);
	}
	return walk && fts_close(walk) == 0 && good;
}

bool tree_remove(const char *path)
{
	remove_tree(path);
	return access(path, F_OK) != 0;
}

void tree_walk(const char *path, tree_visit *visit, void *context)
{
	FTS *walk = begin_walk(path);
	FTSENT *found;

	while (walk && (found = fts_read(walk)) != NULL) {
		if (found->fts_info == FTS_F || found->fts_info == FTS_SL || found->fts_info == FTS_DEFAULT) {
			visit(context, found->fts_path, found->fts_path + strlen(path) + 1, found->fts_statp);
		}
	}
	if (walk) {
		fts_close(walk);
	}
}

bool tree_age(const char *path, int64_t seconds)
{
	struct timespec times[2];

	(void)clock_gettime(CLOCK_REALTIME, &times[0]);
	times[0].tv_sec -= seconds;
	times[1] = times[0];
	return utimensat(AT_FDCWD, path, times, AT_SYMLINK_NOFOLLOW) == 0;
}

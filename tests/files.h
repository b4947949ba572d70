/* SPDX-License-Identifier: MIT */
/* files: whole files, a test's own directory below $TMPDIR, and what this process has open and in memory */
#ifndef TESTS_FILES_H
#define TESTS_FILES_H

#include <dirent.h>
#include <fcntl.h>
#include <fts.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* The caller frees the bytes, which have a NUL behind them. NULL: the file cannot be read. */
static inline void *file_read(const char *path, size_t *ret_size)
{
	int file = open(path, O_RDONLY | O_CLOEXEC);
	struct stat found;
	char *bytes = NULL;

	if (file >= 0 && fstat(file, &found) == 0 && (bytes = calloc(1, (size_t)found.st_size + 1)) != NULL) {
		*ret_size = (size_t)found.st_size;
		if (read(file, bytes, *ret_size) != found.st_size) {
			free(bytes);
			bytes = NULL;
		}
	}
	if (file >= 0) {
		close(file);
	}
	return bytes;
}

/* `how`: O_TRUNC, O_APPEND. A new file gets `mode`. */
static inline bool file_put(const char *path, const void *bytes, size_t size, int how, mode_t mode)
{
	int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | how, mode);
	bool good = file >= 0 && write(file, bytes, size) == (ssize_t)size;

	return (file < 0 || close(file) == 0) && good;
}

static inline bool file_write(const char *path, const void *bytes, size_t size)
{
	return file_put(path, bytes, size, O_TRUNC, 0600);
}

static inline bool private_directory_make(char *ret_path, size_t size, const char *name)
{
	const char *parent = getenv("TMPDIR");

	(void)snprintf(ret_path, size, "%s/%s-XXXXXX", parent ? parent : "/tmp", name);
	return mkdtemp(ret_path) != NULL;
}

/* Whatever permissions a test took away in it: a directory is opened to us before it is read. */
static inline void remove_tree(const char *path)
{
	char *const roots[] = {(char *)(uintptr_t)path, NULL};
	FTS *walk = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	FTSENT *found;

	while (walk && (found = fts_read(walk)) != NULL) {
		if (found->fts_info == FTS_D) {
			(void)chmod(found->fts_accpath, 0700);
		} else {
			(void)remove(found->fts_accpath);
		}
	}
	if (walk) {
		(void)fts_close(walk);
	}
}

/* By /proc; 0: it cannot be told. Counts are for comparing: each has the one it reads with. */
static inline int descriptors_open(void)
{
	DIR *names = opendir("/proc/self/fd");
	int count = 0;

	while (names && readdir(names)) {
		count++;
	}
	if (names) {
		closedir(names);
	}
	return count;
}

enum pages { PAGES_MAPPED, PAGES_RESIDENT };

/* By /proc; -1: it cannot be told. */
static inline long pages_of_process(enum pages which)
{
	long pages[] = {-1, -1};
	FILE *file = fopen("/proc/self/statm", "re");

	if (file) {
		(void)!fscanf(file, "%ld %ld", &pages[PAGES_MAPPED], &pages[PAGES_RESIDENT]);
		fclose(file);
	}
	return pages[which];
}

#endif

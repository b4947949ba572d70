/* SPDX-License-Identifier: MIT */
/* private_directory: a test's own directory below $TMPDIR, removed whatever permissions the test took away in it */
#ifndef TESTS_PRIVATE_DIRECTORY_H
#define TESTS_PRIVATE_DIRECTORY_H

#include <fts.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

static inline bool private_directory_make(char *ret_path, size_t size, const char *name)
{
	const char *parent = getenv("TMPDIR");

	(void)snprintf(ret_path, size, "%s/%s-XXXXXX", parent ? parent : "/tmp", name);
	return mkdtemp(ret_path) != NULL;
}

/* A directory is opened to us before it is read: whoever is not root needs that. */
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

#endif

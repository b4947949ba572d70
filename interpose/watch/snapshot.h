/* SPDX-License-Identifier: MIT */
/*
 * snapshot: the working directory and the compiler's variables as they were when a compilation began
 *
 * Purpose: another thread may change the directory or a variable while the compiler works, and change it back. So each
 * answer that the compiler gets from getcwd, getenv and the stat of "." and of $PWD is compared with the snapshot, and
 * the snapshot is compared with the values in the key (request_unchanged()). If a single answer differs, the result is
 * not cached.
 *
 * Calling sequence: snapshot_take() before the compilation; snapshot_agrees() or snapshot_agrees_stat() for every
 * answer; snapshot_free().
 * Threads: constant after snapshot_take(), which is as safe as getenv(). Errors: snapshot_take() returns NULL if there
 * is no memory. Ownership: the snapshot holds copies.
 */
#ifndef INTERPOSE_WATCH_SNAPSHOT_H
#define INTERPOSE_WATCH_SNAPSHOT_H

#include "interpose/watch/environment.h"

#include <stdbool.h>
#include <sys/stat.h>

struct snapshot {
	const struct environment *environment;
	struct environment_value values[ENVIRONMENT_MAX]; /* in the order of environment_values(); copies */
	size_t count;
	char *cwd;         /* NULL if getcwd() failed */
	char *pwd;         /* $PWD, or NULL */
	struct stat here;  /* all zero if there was none */
	struct stat named; /* the directory that $PWD names; likewise */
};

struct snapshot *snapshot_take(const struct environment *environment);
void snapshot_free(struct snapshot *snapshot); /* NULL is fine */

/* Returns $PWD if it names the same directory as "."; otherwise NULL. */
const char *snapshot_pwd(const struct snapshot *snapshot);

/*
 * Returns true if the value of a variable is that of the snapshot. A variable outside the key must be unset, unless it
 * is known not to affect the output. `variable` NULL: the value is the working directory; NULL: that query failed.
 */
bool snapshot_agrees(const struct snapshot *snapshot, const char *variable, const char *value);
/*
 * Returns true unless the path is "." or $PWD and names another file than in the snapshot. `found` NULL: no such path.
 */
bool snapshot_agrees_stat(const struct snapshot *snapshot, const char *path, const struct stat *found);

#endif

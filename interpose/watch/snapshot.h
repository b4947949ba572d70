/* SPDX-License-Identifier: MIT */
/*
 * snapshot: the working directory and the compiler's variables as they were when a compilation began
 *
 * Purpose: another thread may change the directory or a variable while the compiler works, and change it back. Each
 * answer that the compiler gets, from getcwd, getenv and the stat of "." and of $PWD, is therefore compared with the
 * snapshot, and the snapshot with the values in the key (request_unchanged()). If a single answer differs, the result
 * is not cached.
 *
 * Calling sequence: snapshot_take() before the compilation; snapshot_agrees_*() for every answer; snapshot_free().
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
	struct environment_value values[ENVIRONMENT_MAX]; /* as environment_values() gives them */
	size_t count;
	char *cwd; /* NULL if getcwd() failed */
	char *pwd; /* $PWD, or NULL */
	struct stat here;
	struct stat named; /* the directory that $PWD names */
	bool has_here;
	bool has_named;
};

struct snapshot *snapshot_take(const struct environment *environment);
void snapshot_free(struct snapshot *snapshot); /* NULL is fine */

/* Returns $PWD if it names the same directory as "."; otherwise NULL. */
const char *snapshot_pwd(const struct snapshot *snapshot);

/* `answer` NULL: the query of the directory failed. */
bool snapshot_agrees_directory(const struct snapshot *snapshot, const char *answer);
/* A variable that is not in the key must be unset, unless it is known not to affect the output. */
bool snapshot_agrees_variable(const struct snapshot *snapshot, const char *name, const char *value);
/* `found` NULL: the path does not exist. */
bool snapshot_agrees_stat(const struct snapshot *snapshot, const char *path, const struct stat *found);

#endif

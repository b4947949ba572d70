/* SPDX-License-Identifier: MIT */
/*
 * snapshot: what the process was when a compile began: its working directory, and the variables that its compiler reads
 *
 * Purpose: other threads may change both while the compiler works, and change them back. So what the compiler is told,
 * by getcwd, by getenv and by the stat of "." and of $PWD, is compared with this at each call, and this with what the
 * key was made of (request_unchanged()): what was told otherwise even once is not kept.
 *
 * Calling sequence: snapshot_take() before the compile; snapshot_agrees_*() with every answer; snapshot_free().
 * Threads: constant once it is taken; taking it is as safe as getenv.
 * Errors: snapshot_take() gives NULL without memory. Ownership: copies of its own.
 */
#ifndef INTERPOSE_WATCH_SNAPSHOT_H
#define INTERPOSE_WATCH_SNAPSHOT_H

#include "interpose/watch/environment.h"

#include <stdbool.h>
#include <sys/stat.h>

struct snapshot {
	const struct environment *environment;
	struct environment_value values[ENVIRONMENT_MAX]; /* as of environment_values() */
	size_t count;
	char *cwd; /* NULL where it could not be had */
	char *pwd; /* $PWD, or NULL */
	struct stat here;
	struct stat named; /* what $PWD is */
	bool has_here;
	bool has_named;
};

struct snapshot *snapshot_take(const struct environment *environment);
void snapshot_free(struct snapshot *snapshot); /* NULL is fine */

/* $PWD where it is the same directory as "."; else NULL. */
const char *snapshot_pwd(const struct snapshot *snapshot);

/* `answer`: the directory, or NULL where it could not be told. */
bool snapshot_agrees_directory(const struct snapshot *snapshot, const char *answer);
/* A variable that no key knows must not be set. */
bool snapshot_agrees_variable(const struct snapshot *snapshot, const char *name, const char *value);
/* `found`: NULL where there is none. */
bool snapshot_agrees_stat(const struct snapshot *snapshot, const char *path, const struct stat *found);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * target: the file that a command writes, by name or standard output
 *
 * Purpose: a file is written under a temporary name beside it and renamed, so that it is there whole or not at all; a
 * device or a pipe is written to as it is, and so is standard output ('-'). An interrupt takes the temporary file away.
 * Bytes are gathered and written in large pieces.
 *
 * Calling sequence: target_open(), target_put() any number of times, target_close() once where it was opened. Errors:
 * negative errno values; target_put() gives -EINTR once a signal has come (cli/console/progress.h: it is held from
 * target_open() on).
 * Threads: one; one target at a time. Ownership: `file` stays the caller's.
 */
#ifndef CLI_TARGET_H
#define CLI_TARGET_H

#include "cache/temporary.h"

struct target {
	char *path;       /* of the file that is replaced: links followed; NULL: written to directly */
	const char *name; /* in its directory */
	struct temporary temporary;
	int fd;      /* where it is written to directly */
	char *piece; /* what is not yet written */
	size_t filled;
};

int target_open(const char *file, struct target *ret_target);
/* `context` is the target: what writers of a format call. */
int target_put(void *context, const void *bytes, size_t size);
/* `error`: what has happened so far; then nothing appears. Returns it, or that of the last step. */
int target_close(struct target *target, enum durability durability, int error);

#endif

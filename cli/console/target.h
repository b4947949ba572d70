/* SPDX-License-Identifier: MIT */
/*
 * target: the output file of a command, or standard output
 *
 * Purpose: a file is written as a temporary file in the same directory and then renamed, so that readers see either the
 * complete file or none. A device, a pipe and standard output ('-') are written directly. After an interrupt,
 * target_close() removes the temporary file.
 *
 * Calling sequence: target_open(), target_put() any number of times, target_close() once if target_open() succeeded.
 * Errors: target_open() and target_close() report them on stderr. target_put() returns negative errno values.
 * target_open() calls interrupt_hold() (cli/console/progress.h), and target_put() returns -EINTR after a signal.
 * Threads: one; one target at a time. Ownership: `file` stays the caller's.
 */
#ifndef CLI_TARGET_H
#define CLI_TARGET_H

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>

struct target {
	const char *shown;            /* the file as the user named it, or "standard output" */
	char path[PATH_MAX];          /* of the file that is replaced, with links resolved */
	char temporary[PATH_MAX + 8]; /* path of what is written; "": written directly */
	FILE *stream;
	bool is_output; /* standard output */
};

/* Refuses to write `what` ("a bundle") to a terminal. Returns false after a message. */
bool target_open(const char *file, const char *what, struct target *ret_target);
/* Appends bytes, as writes to `stream` do too. */
int target_put(struct target *target, const void *bytes, size_t size);
/*
 * Writes the rest and renames the temporary file, unless `error`, the caller's result so far, is negative: then the
 * temporary file is removed, and the error is reported. Returns false if anything failed.
 */
bool target_close(struct target *target, int error);

#endif

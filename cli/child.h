/* SPDX-License-Identifier: MIT */
/*
 * child: a program that is run for what it says
 *
 * Its standard input is empty. What it writes is kept up to CHILD_TEXT_MAX bytes each, and read to its end. One that
 * does not end in time is killed, with all of its process group.
 *
 * Calling sequence: child_run(), look, child_free(). Errors: negative errno values: it could not be started. Threads: one.
 */
#ifndef CLI_CHILD_H
#define CLI_CHILD_H

#include <stdbool.h>
#include <stddef.h>

#define CHILD_TEXT_MAX ((size_t)1 << 20)

struct child {
	char *out, *err; /* ended by NUL */
	int status;      /* as a shell has it: 128 + signal where one ended it */
	bool late;       /* it was killed */
};

/* `environment`: NULL: this process's. */
int child_run(const char *const *argv, char *const *environment, int seconds, struct child *ret_child);
void child_free(struct child *child);

#endif

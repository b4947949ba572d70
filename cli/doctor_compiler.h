/* SPDX-License-Identifier: MIT */
/*
 * doctor_compiler: one file that may be a compiler's library: which release it is, and whether it can be watched
 *
 * Calling sequence: an own record, zeros, of what one doctor has seen; doctor_compiler() of each file, in any order;
 * doctor_seen_free(). Nothing of the file runs. Threads: one.
 */
#ifndef CLI_DOCTOR_COMPILER_H
#define CLI_DOCTOR_COMPILER_H

#include "cli/finding.h"

#include <stdbool.h>
#include <stddef.h>

/* Libraries that were looked at, by their real paths: each is told of once. */
struct doctor_seen {
	char **list;
	size_t count;
};

/* False: it is not a compiler's library. `how` it is reached: "linked", ... */
bool doctor_compiler(struct findings *findings, struct doctor_seen *seen, const char *path, const char *how);
void doctor_seen_free(struct doctor_seen *seen);

#endif

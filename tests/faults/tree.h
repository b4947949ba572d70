/* SPDX-License-Identifier: MIT */
/*
 * tree: directories of the tests: copied with modes and times, removed, looked through
 *
 * Errors: false or a negative number; a tree that is missing can be removed. No links are followed.
 */
#ifndef FAULTS_TREE_H
#define FAULTS_TREE_H

#include "tests/files.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

/* Called for each file that is no directory. `name`: its path below the root. */
typedef void tree_visit(void *context, const char *path, const char *name, const struct stat *found);

bool tree_copy(const char *from, const char *to);
bool tree_remove(const char *path);
void tree_walk(const char *path, tree_visit *visit, void *context);
bool tree_age(const char *path, int64_t seconds); /* the times of one file, set back */
bool tree_read(const char *path, char **ret_bytes, size_t *ret_size);

#endif

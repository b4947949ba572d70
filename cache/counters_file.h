/* SPDX-License-Identifier: MIT */
/*
 * counters_file: the counts of all processes on disk, in COUNTERS_FILES files (see cache/counters.h)
 *
 * Purpose: adding to a file under its lock, summing it, removing it. A file that is missing, damaged, or of another
 * format or list of counters counts nothing and is started anew by the next addition.
 *
 * Errors: negative errno values; -EAGAIN: the lock could not be had; -EPERM: others can write the directory or file;
 * -EFBIG: the process's RLIMIT_FSIZE would be passed. After an error nothing counts as added.
 * Threads, fork, signals: no state; no descriptor is kept; EINTR is retried.
 */
#ifndef CACHE_COUNTERS_FILE_H
#define CACHE_COUNTERS_FILE_H

#include "cache/counters.h"
#include "cache/directory.h"

#define COUNTERS_FILES 16

/* `number` modulo COUNTERS_FILES picks the file. Directories and file are made when missing. */
int counters_file_add(const struct directory *directory, unsigned number, const uint64_t amounts[COUNTER_COUNT],
                      int lock_tries);
/* Adds the file's counts to `values`. */
int counters_file_read(const struct directory *directory, int root, unsigned number, uint64_t values[COUNTER_COUNT]);
int counters_file_remove(int root, unsigned number);

#endif

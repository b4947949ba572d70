/* SPDX-License-Identifier: MIT */
/*
 * counters_file: the counts of all processes on disk, in COUNTERS_FILES files (see cache/counters.h)
 *
 * Purpose: adding to a file under its lock, summing all, removing all. A file that is missing, damaged, or of another
 * format or list of counters counts nothing and is started anew by the next addition. What is there and is none of
 * ours, by its first bytes, kind, owner or a second name, counts nothing and is left alone.
 *
 * Errors: negative errno values; -EAGAIN: the lock could not be had; -EPERM: others can write the directory, or none of
 * the files is to be had; -EFBIG: the process's RLIMIT_FSIZE would be passed. After an error nothing counts as added.
 */
#ifndef CACHE_COUNTERS_FILE_H
#define CACHE_COUNTERS_FILE_H

#include "cache/counters.h"
#include "cache/directory.h"

#define COUNTERS_FILES 16

/* Where other processes have the lock: nobody sleeps for the sake of a hit. */
enum counters_file_patience { COUNTERS_FILE_GIVE_UP, COUNTERS_FILE_WAIT };

/* Where the cache directory is missing: -ENOENT, or it is made. */
enum counters_file_want { COUNTERS_FILE_FIND, COUNTERS_FILE_MAKE };

/* Some counters, and how much is added to each: few at a time, so that the rest costs nothing. */
struct counters_amounts {
	size_t count;
	struct counters_amount {
		enum counter counter;
		uint64_t amount;
	} list[COUNTER_COUNT];
};

/*
 * `number` modulo COUNTERS_FILES is the file that is tried first; where it is locked, or something else is in its
 * place, the next ones are. What is missing in the cache directory is made.
 */
int counters_file_add(const struct directory *directory, unsigned number, const struct counters_amounts *amounts,
                      enum counters_file_patience patience, enum counters_file_want want);
/*
 * Adds the counts of all files to `values`. What is missing counts nothing. `ret_since`: seconds since 1970 when the
 * first of them was begun; 0: there is none.
 */
int counters_file_read(const struct directory *directory, uint64_t values[COUNTER_COUNT], int64_t *ret_since);
int counters_file_remove(const struct directory *directory);

#endif

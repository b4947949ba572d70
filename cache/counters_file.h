/* SPDX-License-Identifier: MIT */
/*
 * counters_file: the counts of all processes on disk, in COUNTERS_FILES files (see cache/counters.h)
 *
 * Purpose: adds to a file under its lock, sums all files, removes all files. A file that is missing, damaged, or of
 * another format or list of counters counts as zero, and the next addition starts it again from zero. A file that is
 * not ours (by its first bytes, type, owner or a second hard link) is not counted, written or removed.
 *
 * Errors: negative errno values; -EAGAIN: another process holds the lock; -EPERM: the directory is not trusted, or none
 * of the files is usable; -EFBIG: the process's RLIMIT_FSIZE would be exceeded. After an error the caller must treat
 * the amounts as not added. Threads: any; the file that was used last is remembered in atomics.
 */
#ifndef CACHE_COUNTERS_FILE_H
#define CACHE_COUNTERS_FILE_H

#include "cache/counters.h"
#include "cache/directory.h"

#define COUNTERS_FILES 16

/* What to do if other processes hold all locks. A hit is counted without a wait. */
enum counters_file_patience { COUNTERS_FILE_GIVE_UP, COUNTERS_FILE_WAIT };

/* What to do if the cache directory is missing: FIND returns -ENOENT, MAKE creates it. */
enum counters_file_want { COUNTERS_FILE_FIND, COUNTERS_FILE_MAKE };

/* The amounts to add. Only counters that change are listed, because one event changes few of them. */
struct counters_amounts {
	size_t count;
	struct counters_amount {
		enum counter counter;
		uint64_t amount;
	} list[COUNTER_COUNT];
};

/*
 * Adds the amounts to one file. `number` modulo COUNTERS_FILES is the file that is tried first; if it is locked or not
 * ours, the next ones are tried. A missing file, and its directory in the cache directory, are created.
 */
int counters_file_add(const struct directory *directory, unsigned number, const struct counters_amounts *amounts,
                      enum counters_file_patience patience, enum counters_file_want want);
/*
 * Adds the counts of all files to `values`. Missing files count as zero. `ret_since` is the time in seconds since 1970
 * at which the oldest file was begun; 0: there is no file.
 */
int counters_file_read(const struct directory *directory, uint64_t values[COUNTER_COUNT], int64_t *ret_since);
/* Removes all files that are ours. */
int counters_file_remove(const struct directory *directory);

#endif

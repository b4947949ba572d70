/* SPDX-License-Identifier: MIT */
/*
 * recency: when a file of the cache was last used (docs/DESIGN.md C4)
 *
 * The time of use is the file's atime, which the store sets itself. It does not rely on the kernel's updates: with
 * noatime there are none, and with relatime one a day. mtime is not changed, because a damaged file is removed only if
 * its mtime has not changed since it was read. The later of the two times counts, because archives and copies may
 * restore an old atime.
 *
 * A hit sets the atime at most once an hour per file. The result of the fstat() that reading needs anyway decides, so
 * most hits need no additional system call. If the whole cache is replaced within an hour, this rule alone would hide
 * all hits from eviction, which would then be first in, first out (measured: 4 points of hit rate lost with a Zipf
 * distribution). Therefore a new file is marked: the first hit sets its time in any case, and eviction treats a file
 * whose first hit is less than an hour ago as used now. The mark is in the nanoseconds of the atime: one past a whole
 * microsecond. File systems with coarser times lose it, and then every file that is less than an hour old counts as
 * used now.
 *
 * Entries that no later process is likely to request (cache/entry.h: entry_set_short_lived()) have another mark, two
 * nanoseconds past a whole microsecond. Until their first hit they are evicted before all others.
 *
 * For a file of another user (in a shared directory), the kernel only permits setting both times to the current time.
 * That changes mtime: a process about to remove the file takes it for a different file and leaves it.
 *
 * Times: nanoseconds of CLOCK_REALTIME. A time more than an hour in the future comes from a wrong clock. It counts as
 * that long ago, because the file would otherwise never be evicted, and the next hit corrects it.
 * Errors: none; a time that cannot be set stays unchanged.
 */
#ifndef CACHE_RECENCY_H
#define CACHE_RECENCY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#define RECENCY_PERIOD_NS INT64_C(3600000000000)
/* Subtracted from the order of files that are evicted before all others. Larger than any time of use. */
#define RECENCY_FIRST (INT64_C(1) << 62)

/* Returns the current time. */
int64_t recency_now(void);
/* RECENCY_USED: not marked. The values are the nanoseconds past a whole microsecond. */
enum recency_mark { RECENCY_USED, RECENCY_MARKED, RECENCY_SHORT_LIVED };

/* Return when the file was last used, as its times say, and its mark. */
int64_t recency_of(const struct stat *found);
enum recency_mark recency_mark_of(const struct stat *found);
/* Returns what a time of use counts as, `now` or earlier. */
int64_t recency_past(int64_t used, int64_t now);
/*
 * Returns the position in the order of eviction: the time of last use, but `now` for a file that had a hit within the
 * last hour, and a negative number for a short-lived one.
 */
int64_t recency_order(const struct stat *found, int64_t now);

/* Returns whether a hit has to update the time of use. */
bool recency_due(const struct stat *found, int64_t now);
/* Sets the time of use to `now`, without a mark. `found` is the stat of the file. */
void recency_touch(int at, const char *path, const struct stat *found, int64_t now);
/* Sets the time of use of an open new file to `now`, and marks it. */
void recency_mark_file(int file, int64_t now, enum recency_mark mark);

#endif

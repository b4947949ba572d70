/* SPDX-License-Identifier: MIT */
/*
 * recency: when a file of the cache was last used (docs/DESIGN.md C4)
 *
 * The time of use is the file's atime, which the store sets itself. The kernel's own updates are not relied upon:
 * noatime makes none and relatime one a day. mtime stays as it was written, because a damaged file is removed only if
 * it still has the mtime that was seen. The later of the two times counts, since archives and old copies bring an atime
 * from the past.
 *
 * A hit sets the atime at most once an hour per file. The fstat() that reading needs anyway decides, so most hits cost
 * no system call for it. Where the whole cache is replaced within an hour, hits would then be invisible, and eviction
 * would be first in, first out (measured: 4 to 6 points of hit rate with Zipf's distribution). Therefore a file can be
 * marked: its next hit sets the time regardless of the hour. A new file is marked. Eviction marks a file used less than
 * an hour ago instead of removing it, once for each pass over the cache. The mark is in the nanoseconds of the atime:
 * one past a whole microsecond. File systems with coarser times lose it, and then only the hour counts.
 *
 * Entries that no later process is likely to ask for (cache/entry.h: entry_set_short_lived()) have another mark, two
 * past a whole microsecond. Until their first hit they are evicted before all others.
 *
 * Of another user's file (in a shared directory) only both times can be set, and to the present. That moves mtime: a
 * process about to remove the file then takes it for another one, and leaves it.
 *
 * Times: nanoseconds of CLOCK_REALTIME. A time more than an hour ahead comes from a wrong clock. The next hit or scan
 * sets it anew; otherwise the file would stay for ever.
 * Errors: none; a time that cannot be set stays.
 */
#ifndef CACHE_RECENCY_H
#define CACHE_RECENCY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#define RECENCY_PERIOD_NS INT64_C(3600000000000)

int64_t recency_now(void);
/* RECENCY_USED: not marked. */
enum recency_mark { RECENCY_USED, RECENCY_MARKED, RECENCY_SHORT_LIVED };

/* When the file was last used; and is it marked? */
int64_t recency_of(const struct stat *found);
enum recency_mark recency_mark_of(const struct stat *found);
/*
 * The place in the order of eviction: recency_of(), but below zero for short-lived files. recency_of_rank() undoes
 * that.
 */
int64_t recency_rank(const struct stat *found);
int64_t recency_of_rank(int64_t rank);
bool recency_ahead(int64_t used, int64_t now);

/* Does a hit have to be shown? */
bool recency_due(const struct stat *found, int64_t now);
/* Used now. `found` is what was seen of the file. */
void recency_touch(int at, const char *path, const struct stat *found, int64_t now);
/* Used now, and RECENCY_MARKED. Returns what recency_rank() will say of the file if nothing else happens to it. */
int64_t recency_mark(int at, const char *path, const struct stat *found, int64_t now);
/* The same for an open file that is being made, with any mark. */
int64_t recency_mark_file(int file, int64_t now, enum recency_mark mark);

#endif

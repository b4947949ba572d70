/* SPDX-License-Identifier: MIT */
/*
 * recency: when a file of the cache was last used (docs/DESIGN.md C4)
 *
 * Where it is kept: in the file's own atime, which we set ourselves. The kernel's own updates are not relied upon (a
 * file system mounted noatime makes none; relatime makes one a day), and do no harm: they tell of reads. mtime stays as
 * it was written, because a damaged file is removed only if it still has the mtime that was seen. A file was last used
 * at the later of the two times: archives and old copies bring an atime from the past.
 *
 * A hit sets it at most once an hour for each file, judged by the fstat that reading needs anyway, so that nearly every
 * hit costs no system call for it. That hour would make hits invisible where all of the cache is replaced within it,
 * and least recently used would become first in, first out (measured: 4 to 6 points of hit rate lost with Zipf's
 * distribution). Therefore a file can be marked: its next hit is shown whatever the hour. A new file is marked; and the
 * eviction marks one that it would remove although it was used less than an hour ago, once for each pass over the
 * cache. The mark is in the atime's nanoseconds: one past a whole microsecond. File systems with coarser times lose it,
 * and then the hour stands alone.
 *
 * Another user's file (a shared directory): only both times can be set, and to the present. That moves mtime; whoever
 * wants to remove the file then takes it for another one, and it stays.
 *
 * Times: nanoseconds of CLOCK_REALTIME. A time more than an hour ahead of now is from a wrong clock, and is set anew by
 * the next hit or scan: else the file would stay for ever.
 * Errors: none that matter; a time that cannot be set stays.
 */
#ifndef CACHE_RECENCY_H
#define CACHE_RECENCY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#define RECENCY_PERIOD_NS INT64_C(3600000000000)

int64_t recency_now(void);
/* When the file was last used; and is it marked? */
int64_t recency_of(const struct stat *found);
bool recency_marked(const struct stat *found);
bool recency_ahead(int64_t used, int64_t now);

/* Does a hit have to be shown? */
bool recency_due(const struct stat *found, int64_t now);
/* Used now. `found` is what was seen of the file. */
void recency_touch(int at, const char *path, const struct stat *found, int64_t now);
/* What recency_of() will say of a file that is marked now, if nothing else happens to it. */
int64_t recency_stamp(int64_t now);
/* Used now, and marked. Returns recency_stamp(now). */
int64_t recency_mark(int at, const char *path, const struct stat *found, int64_t now);
/* The same for an open file that is being made. */
void recency_mark_file(int file, int64_t now);
/* Used and written at `stamp`, a recency_stamp(): others that were made later have earlier ones. */
void recency_stamp_file(int file, int64_t stamp);

#endif

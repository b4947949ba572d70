/* SPDX-License-Identifier: MIT */
/*
 * journal: a file of recent misses, uncached compilations and bypasses, with their reasons (docs/DESIGN.md E)
 *
 * Purpose: a missing key does not show why it is missing. So each miss, uncached compilation and bypass adds a record,
 * which is a line of JSON: the time, the process, the outcome and its reason, and the request (event_spell() in
 * interpose/compile/event.h). Hits are not recorded. `nvrtccache explain` reads it (cli/explain/journal.c).
 *
 * Files: <directory>/v1/journal, and <directory>/v1/journal.old, which is the previous journal. Each has at most half
 * of JOURNAL_BYTES, and the oldest records are lost first. A record is appended by one write, under a lock on the file
 * itself. A process that finds no room for its record renames the journal to journal.old. If the file system has locks,
 * the size is never exceeded; otherwise by at most one record of each concurrent writer. The journal is not part of the
 * results: it is not evicted, counted or exported.
 *
 * A record begins with JOURNAL_BEGINNING, which no text of a sound record contains, because quotes are escaped there.
 * Bytes that are torn, damaged or of another format are skipped up to the next sound record. A journal of the earlier
 * format, which was not text, is renamed like a full one.
 *
 * Calling sequence: journal_write() after each such call, if the cache directory may be written. Errors: negative errno
 * values; a record that cannot be written is lost, with no other effect. journal_write(): -EINVAL: the line is empty or
 * too long; -ENOENT: there is no cache directory (it is not created); -EPERM: not trusted, or the file is not ours;
 * -EAGAIN: other processes kept locking or renaming it.
 */
#ifndef CACHE_JOURNAL_H
#define CACHE_JOURNAL_H

#include "cache/directory.h"

#define JOURNAL_BYTES        ((size_t)1 << 20)
#define JOURNAL_RECORD_BYTES ((size_t)16 << 10)
#define JOURNAL_NAME         "journal"
#define JOURNAL_OLD_NAME     "journal.old"

/* The first member of each record; its value is the number of the format. */
#define JOURNAL_BEGINNING "{\"nvrtccache\":1,"

/* Appends a record: a line, with its line break. */
int journal_write(const struct directory *directory, const char *line, size_t size);

/*
 * Returns 0 if the directory has a journal of ours or none yet. -EPERM: a file of that name is not ours or not trusted.
 */
int journal_check(const struct directory *directory);

#endif

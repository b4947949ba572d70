/* SPDX-License-Identifier: MIT */
/*
 * reading: reads all entries of a cache directory, least recently used first, and shows a progress bar
 *
 * Calling sequence: reading_begin(), reading_each(), reading_end(). Errors: those of cache/tools/inventory.h; -EINTR
 * after a signal (interrupt_hold()); a negative value that `visit` returns ends the reading and is returned. Files that
 * are damaged, not trusted or not readable are skipped and counted. Threads: one. Ownership: an entry is valid only
 * during the call of `visit`, unless `visit` takes a reference.
 */
#ifndef CLI_CONSOLE_READING_H
#define CLI_CONSOLE_READING_H

#include "cache/settings.h"
#include "cache/tools/inventory.h"

struct reading {
	struct directory directory;
	struct inventory inventory;
	const char *doing;
	uint64_t left_out;   /* files that are damaged, or that others can write */
	uint64_t unreadable; /* files, and directories of files */
};

typedef int reading_visit(void *context, const struct entry *entry, int64_t used);

/* Lists the files. `doing` is the text of the bar while entries are read. */
int reading_begin(const struct settings *settings, const char *doing, struct reading *ret_reading);
/* Calls `visit` for each entry with the time when its file was used, in nanoseconds since 1970. */
int reading_each(struct reading *reading, reading_visit *visit, void *context);
/* Releases the reading. Has to be called after a failed reading_begin() too. */
void reading_end(struct reading *reading);

/*
 * Reports on stderr how many files were left out. Returns EXIT_TROUBLE if a file or directory was not readable; damaged
 * and untrusted files do not count as an error.
 */
int reading_report(const struct reading *reading);

#endif

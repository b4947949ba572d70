/* SPDX-License-Identifier: MIT */
/*
 * reading: all entries of a cache directory one after the other, used longest ago first, with a bar meanwhile
 *
 * Calling sequence: reading_begin(), reading_each(), reading_end(). Errors: those of cache/tools/inventory.h; -EINTR: a
 * signal has come (interrupt_hold()); what `visit` returns below 0 ends it and is returned. Files that are damaged, not
 * trusted or not readable are left out and counted. Threads: one. Ownership: an entry is the reading's.
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

/* Lists what is there. `doing`: what the bar says while entries are read. */
int reading_begin(const struct settings *settings, const char *doing, struct reading *ret_reading);
int reading_each(struct reading *reading, reading_visit *visit, void *context);
/* After reading_begin() that failed too. */
void reading_end(struct reading *reading);

/* Says on stderr how many files were left out. Returns EXIT_TROUBLE if any could not be read. */
int reading_report(const struct reading *reading);

#endif

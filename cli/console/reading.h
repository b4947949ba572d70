/* SPDX-License-Identifier: MIT */
/*
 * reading: all results of a cache directory, one after the other in the order of use, and a bar meanwhile
 *
 * Purpose: for commands that look into every result. What is on its way is read by threads, as file systems make those
 * wait who read, and not the processor; `visit` is called by the first one, in order, used longest ago first.
 *
 * Calling sequence: reading_begin(), reading_each(), reading_end(). Errors: of cache/tools/inventory.h; -EINTR: a signal was
 * seen (interrupt_hold()); what `visit` returns below 0 ends it and is given back. What is damaged or not trusted, or
 * cannot be read, is passed over and counted. Memory: what READING_BYTES of files need, or the largest file, and the
 * inventory. Threads: one. Ownership: entries are the reading's.
 */
#ifndef CLI_READING_H
#define CLI_READING_H

#include "cache/settings.h"
#include "cache/tools/inventory.h"
#include "cli/console/crew.h"

#define READING_BYTES ((uint64_t)64 << 20)

struct reading {
	struct directory directory;
	struct inventory inventory;
	struct crew crew;
	uint64_t left_out;   /* files that are damaged, or that others can write */
	uint64_t unreadable; /* files, and directories of files */
};

typedef int reading_visit(void *context, const struct entry *entry, int64_t used);

/* Lists what is there. `doing`: what the bar says of reading. */
int reading_begin(const struct settings *settings, const char *doing, struct reading *ret_reading);
int reading_each(struct reading *reading, reading_visit *visit, void *context);
/* After reading_begin() that failed too. */
void reading_end(struct reading *reading);

#endif

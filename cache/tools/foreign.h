/* SPDX-License-Identifier: MIT */
/*
 * foreign: entries that come from another machine (docs/DESIGN.md C9)
 *
 * Errors: negative errno values, including those of the store. Threads: as cache/store.h.
 */
#ifndef CACHE_TOOLS_FOREIGN_H
#define CACHE_TOOLS_FOREIGN_H

#include "cache/entry.h"
#include "cache/store.h"

enum foreign_put { FOREIGN_STORED, FOREIGN_KNOWN };
/*
 * Stores the entry, and counts the evictions; the caller calls events_tell_counts(). FOREIGN_KNOWN: it was already
 * stored, and nothing was written.
 */
int foreign_put(struct store *store, const struct entry *entry, enum foreign_put *ret_put);

#endif

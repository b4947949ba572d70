/* SPDX-License-Identifier: MIT */
/*
 * foreign: entries that come from another machine, or are sent to one (docs/DESIGN.md B20, C9)
 *
 * Purpose: stamps in dependencies are valid only on the node that recorded them. foreign_neutral() removes them from an
 * entry that is sent. foreign_put() removes them from an entry that was received, even if the sender should have done
 * so, and stores the entry unless the same result is already stored: the stored one has this node's stamps. This folder
 * does not interpret dependencies, so the caller passes the function that removes stamps.
 *
 * Errors: negative errno values, including those of the store. Threads: as cache/store.h. Ownership: the caller gets
 * one reference of each returned entry.
 */
#ifndef CACHE_TOOLS_FOREIGN_H
#define CACHE_TOOLS_FOREIGN_H

#include "cache/entry.h"
#include "cache/store.h"

/* Overwrites the stamps in dependencies with a value that is valid on no node. The size does not change. */
typedef void foreign_forget(void *dependencies, size_t size);

/* Returns a copy of the entry without valid stamps. */
int foreign_neutral(const struct entry *entry, foreign_forget *forget, struct entry **ret_entry);

enum foreign_put { FOREIGN_STORED, FOREIGN_KNOWN };
/*
 * Stores a copy of the entry without valid stamps, and counts the evictions; the caller calls events_tell_counts().
 * FOREIGN_KNOWN: the same result was already stored.
 */
int foreign_put(struct store *store, const struct entry *entry, foreign_forget *forget, store_same *same,
                enum foreign_put *ret_put);

#endif

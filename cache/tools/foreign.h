/* SPDX-License-Identifier: MIT */
/*
 * foreign: entries that come from another machine, or go to one (docs/DESIGN.md B20, C9)
 *
 * Purpose: stamps in dependencies are valid on the node that took them. foreign_neutral() removes them from an entry
 * that leaves. foreign_put() removes them from an entry that arrives, whatever its sender says, and stores it unless
 * the same entry is there already: that one keeps this node's stamps. This folder does not interpret dependencies: the
 * caller gives the function that removes stamps.
 *
 * Errors: negative errno values, those of the store too. Threads: as cache/store.h. Ownership: the caller gets one
 * reference of each entry given out.
 */
#ifndef CACHE_TOOLS_FOREIGN_H
#define CACHE_TOOLS_FOREIGN_H

#include "cache/entry.h"
#include "cache/store.h"

/* Makes the stamps in dependencies those of nobody, in place. */
typedef void foreign_forget(void *dependencies, size_t size);

/* A copy with the stamps of nobody. */
int foreign_neutral(const struct entry *entry, foreign_forget *forget, struct entry **ret_entry);

enum foreign_put { FOREIGN_STORED, FOREIGN_KNOWN };
int foreign_put(struct store *store, const struct entry *entry, foreign_forget *forget, store_same *same,
                enum foreign_put *ret_put);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * foreign: results that come from another node, or go to one (docs/DESIGN.md B20, C9)
 *
 * Purpose: stamps in dependencies belong to the node that took them. What leaves goes without (foreign_neutral()), and
 * what comes is rid of them whatever its sender says, and stored, unless that very result is there already: then the
 * stamps of this node stay (foreign_put()). This folder does not read dependencies: who calls says what stamps are.
 *
 * Errors: negative errno values, of the store too. Threads, fork: as cache/store.h. Ownership: the caller has one
 * reference of what is given out.
 */
#ifndef CACHE_TOOLS_FOREIGN_H
#define CACHE_TOOLS_FOREIGN_H

#include "cache/entry.h"
#include "cache/store.h"

/* Makes the stamps in dependencies those of nobody, in place. */
typedef void foreign_forget(void *dependencies, size_t size);

/* A copy with the stamps of nobody. */
int foreign_neutral(const struct entry *entry, foreign_forget *forget, struct entry **ret_entry);

/* Is the one that is there, whatever its stamps are by now, the one that comes, which has those of nobody? */
bool foreign_alike(const struct entry *there, const struct entry *comes, foreign_forget *forget);

enum foreign_put { FOREIGN_STORED, FOREIGN_KNOWN };
int foreign_put(struct store *store, const struct entry *entry, foreign_forget *forget, store_same *same,
                enum foreign_put *ret_put);

#endif

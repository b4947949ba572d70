/* SPDX-License-Identifier: MIT */
/*
 * parcel: the results of one key as they travel: newest first, without stamps, equal ones once (docs/DESIGN.md G3)
 *
 * What is in an envelope is a file of the store with the stamps of nobody. Two nodes' parcels are merged by whoever puts
 * one: results that the other has too, whatever their stamps were, are not taken twice.
 *
 * Calling sequence: a struct of zeros; parcel_read() or parcel_add(); parcel_merge(); parcel_write(); parcel_free().
 * Errors: negative errno values; -EBADMSG: bytes that are not such a file, or of another key; then nothing is in it.
 * Threads: one. Ownership: the entries are the parcel's.
 */
#ifndef AGENT_PARCEL_H
#define AGENT_PARCEL_H

#include "cache/entry.h"
#include "cache/store.h"

#include <stdbool.h>

struct parcel {
	struct entry *entries[STORE_RESULTS_MAX]; /* newest first */
	size_t count;
};

/* Of an envelope; each entry is checked as one of a file is. */
int parcel_read(const void *raw, size_t size, const uint8_t key[ENTRY_KEY_BYTES], struct parcel *ret_parcel);
/* Behind the others, as older than they; without its stamps. -ENOSPC: sixteen are there. */
int parcel_add(struct parcel *parcel, const struct entry *entry);
/* Those of `other` that are not in it go behind. True: it has become more. */
bool parcel_merge(struct parcel *parcel, const struct parcel *other);
/* Is each result of `part` in it? */
bool parcel_holds(const struct parcel *parcel, const struct parcel *part);
/* At most `size_max` bytes: the oldest stay behind. -EFBIG: not even the newest fits. */
int parcel_write(const struct parcel *parcel, uint64_t size_max, void **ret_raw, size_t *ret_size);
/* 64 bits that tell whether it is still what it was. In whatever order: a hit puts its result in front. */
uint64_t parcel_sum(const struct parcel *parcel);
void parcel_free(struct parcel *parcel);

#endif

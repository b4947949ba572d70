/* SPDX-License-Identifier: MIT */
/*
 * parcel: the results of one key in transit: newest first, without stamps, equal ones once (docs/DESIGN.md G3)
 *
 * In the engine they are a value (agent/wire/value.h) whose bundle has this one key. The node that puts a value merges
 * its results with those in the engine; results that both have, whatever their stamps were, appear once.
 *
 * Calling sequence: a struct of zeros; parcel_open() or parcel_add(); parcel_merge(); parcel_seal(); parcel_free().
 * Errors: negative errno values, or what is wrong with a value; then the parcel is empty. Threads: one. Ownership: the
 * entries are the parcel's.
 */
#ifndef AGENT_WIRE_PARCEL_H
#define AGENT_WIRE_PARCEL_H

#include "agent/wire/value.h"
#include "cache/entry.h"
#include "cache/store.h"

#include <stdbool.h>

struct parcel {
	struct entry *entries[STORE_RESULTS_MAX]; /* newest first */
	size_t count;
};

/* VALUE_DAMAGED: its bundle is not whole, empty, or of another key. Each entry is checked as one of a file is. */
enum value_found parcel_open(const void *value, size_t size, const uint8_t key[ENTRY_KEY_BYTES],
                             const struct keyring *keyring, enum value_trust trust, uint64_t raw_max,
                             struct parcel *ret_parcel);
/* Appends an entry as the oldest, without its stamps. -ENOSPC: the parcel has sixteen. */
int parcel_add(struct parcel *parcel, const struct entry *entry);
/* Appends the entries of `other` that are missing. Returns true if there were any. */
bool parcel_merge(struct parcel *parcel, const struct parcel *other);
/* Returns true if each result of `part` is in `parcel`. */
bool parcel_holds(const struct parcel *parcel, const struct parcel *part);
/* A bundle of at most `raw_max` bytes: the oldest stay behind. -EFBIG: not even the newest fits. */
int parcel_seal(const struct parcel *parcel, const uint8_t key[ENTRY_KEY_BYTES], const struct keyring *keyring,
                uint64_t raw_max, void **ret_value, size_t *ret_size);
void parcel_free(struct parcel *parcel);

#endif

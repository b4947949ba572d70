/* SPDX-License-Identifier: MIT */
/*
 * parcel: the results of one key in transit, newest first, without stamps and without duplicates (docs/DESIGN.md G3)
 *
 * In the engine, a parcel is a value (agent/wire/value.h) whose bundle contains this one key. A node that puts a value
 * merges its results with those in the engine. Results that differ only in their stamps count as equal.
 *
 * Calling sequence: zero the struct; parcel_open() or parcel_add(); parcel_merge(); parcel_seal(); parcel_free().
 * Errors: negative errno values, or a value_found; after an error of parcel_open() the parcel is empty. Threads: one.
 * Ownership: the parcel holds a reference to each entry.
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

/*
 * Unpacks a value and checks each entry like an entry read from a file. VALUE_DAMAGED: the bundle is incomplete, empty,
 * or contains another key.
 */
enum value_found parcel_open(const void *value, size_t size, const uint8_t key[ENTRY_KEY_BYTES],
                             const struct keyring *keyring, enum value_trust trust, uint64_t raw_max,
                             struct parcel *ret_parcel);
/* Appends an entry as the oldest, without its stamps. -ENOSPC: the parcel already has sixteen entries. */
int parcel_add(struct parcel *parcel, const struct entry *entry);
/* Appends the entries of `other` that are missing. Returns true if there were any. */
bool parcel_merge(struct parcel *parcel, const struct parcel *other);
/* Returns true if each result of `part` is in `parcel`. */
bool parcel_holds(const struct parcel *parcel, const struct parcel *part);
/*
 * Makes a value with a bundle of at most `raw_max` bytes; the oldest entries are left out if they do not fit. The
 * caller frees the value. -EFBIG: not even the newest entry fits.
 */
int parcel_seal(const struct parcel *parcel, const uint8_t key[ENTRY_KEY_BYTES], const struct keyring *keyring,
                uint64_t raw_max, void **ret_value, size_t *ret_size);
void parcel_free(struct parcel *parcel);

#endif

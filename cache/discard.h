/* SPDX-License-Identifier: MIT */
/*
 * discard: removes the file of a key after it was found damaged or not trusted
 *
 * Calling sequence: discard_file() with the stat of the file that was read. Errors: negative errno values; -EAGAIN: the
 * file has changed since, or another process holds the key's lock to replace it; the file stays.
 */
#ifndef CACHE_DISCARD_H
#define CACHE_DISCARD_H

#include "cache/directory.h"

/* Removes `name`, the file of `key`, from `shard`. A directory of that name is removed if it is empty. */
int discard_file(const struct directory *directory, int home, int shard, const uint8_t key[ENTRY_KEY_BYTES],
                 const char *name, const struct stat *seen);

#endif

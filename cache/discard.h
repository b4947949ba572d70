/* SPDX-License-Identifier: MIT */
/*
 * discard: removes the file of a key that was found to be bad
 *
 * Calling sequence: discard_file() with the stat that was taken when it was read. Errors: negative errno values;
 * -EAGAIN: the file has changed since, or another process is about to replace it: it stays.
 */
#ifndef CACHE_DISCARD_H
#define CACHE_DISCARD_H

#include "cache/directory.h"

/* `name` in `shard`, both of `key`. A directory of that name goes if it is empty. */
int discard_file(const struct directory *directory, int home, int shard, const uint8_t key[ENTRY_KEY_BYTES],
                 const char *name, const struct stat *seen);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * ground: may a missing cache directory be created? (docs/DESIGN.md C5)
 *
 * Not in another root directory than that of the start, because after chroot() the user has not asked for a cache
 * there; not in a $HOME or $XDG_CACHE_HOME of a third user; and not by a user whose files would not be trusted.
 *
 * Calling sequence: ground_settle() once, before there are threads; ground_allows() before a directory is created.
 * Errors: what cannot be examined is not allowed. State: the arguments of ground_settle().
 */
#ifndef CACHE_GROUND_H
#define CACHE_GROUND_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Remembers "/" and the base as they are at the start. `path` is the cache directory or NULL, and stays valid; its
 * first `base_length` bytes are $HOME or $XDG_CACHE_HOME (0: the user has chosen the directory).
 */
void ground_settle(const char *path, size_t base_length, bool base_is_home);
bool ground_allows(void);
/*
 * Returns false for a base that belongs to a third user (neither this one nor root), because its owner could not remove
 * our files, and for a missing $HOME. A missing $XDG_CACHE_HOME is created; its nearest existing parent counts. Without
 * a base (`length` 0) it returns true.
 */
bool ground_base_allows(const char *base, size_t length, bool base_is_home);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * trust: decides which files are used, and sets the rights of a group on new files (docs/DESIGN.md C5)
 *
 * Not shared: only files that are owned by this user or root, and writable by their owner only, are used.
 *
 * Shared: the group is that of the cache's root directory. A file that the group can write, or that another user owns,
 * is used only if it has the group of its directory. Another user's file is used only if this process is in that group,
 * too. A directory of another group than its parent's is used only if this user or root owns it and no other user has
 * any right on it: so every directory that others can reach has the group of the root. Files that every user can write
 * are never used. An access control list is visible in the mode (its mask replaces the group's bits).
 *
 * New files in a shared cache get the group of their directory, with the rights that it has there. The kernel sets that
 * group only in setgid directories, and some file systems never do. If the group cannot be set afterwards either, the
 * file is accessible to its owner only.
 *
 * In a user namespace, and on an idmapped mount, ids without a mapping appear as 65534. That id may stand for many
 * users, so no file of it is trusted, not even by a user with that id; nor is a group with it.
 *
 * Errors: a file whose owner or mode cannot be determined is not trusted, and not opened to a group. Threads: any.
 * State: the arguments of ground_settle().
 */
#ifndef CACHE_TRUST_H
#define CACHE_TRUST_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

/* Returns whether this user or root owns the file. */
bool trust_owner(const struct stat *found);

/*
 * Returns whether a file or directory in `parent` is trusted. `parent` AT_FDCWD: it is the root. If not shared, the
 * only system call is geteuid().
 */
bool trust_found(bool shared, int parent, const struct stat *found);

/*
 * Returns the mode to create a file with: the bits of `all` (0777, 0666) for the owner, and those of the group too if
 * the file is created with the right group. Other processes may open it before its mode is settled, and this process
 * may be killed before it does that.
 */
mode_t trust_first_mode(bool shared, int parent, mode_t all);
/*
 * Set the final mode and group of a new file or an empty directory in `parent` (AT_FDCWD: the root), independently of
 * the umask.
 */
void trust_settle_directory(bool shared, int parent, const char *path);
int trust_settle_file(bool shared, int parent, int file);

/*
 * ground: may a missing cache directory be created? Not in another root directory than that of the start, because after
 * chroot() the user has not asked for a cache there; not in a $HOME or $XDG_CACHE_HOME of a third user; and not by a
 * user whose files would not be trusted. What cannot be examined is not allowed.
 *
 * ground_settle(), once and before there are threads, remembers "/" and the base as they are at the start. `path` is
 * the cache directory or NULL, and stays valid; its first `base_length` bytes are $HOME or $XDG_CACHE_HOME (0: the user
 * has chosen the directory).
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

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
 * In a user namespace, and on an idmapped mount, ids without a mapping appear as 65534. A user with the id 65534 there
 * cannot identify its own files, so only root's files are trusted. A group with that id is not trusted either.
 *
 * Errors: a file whose owner or mode cannot be determined is not trusted, and not opened to a group. Threads: any.
 * State: whether ids of 65534 are identifiable, from a thread's check of a root to its next one.
 */
#ifndef CACHE_TRUST_H
#define CACHE_TRUST_H

#include <stdbool.h>
#include <sys/stat.h>

/* Returns whether this user or root owns the file. */
bool trust_owner(const struct stat *found);
/* Returns whether files that this process creates would be trusted. */
bool trust_user(void);

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

#endif

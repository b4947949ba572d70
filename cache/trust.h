/* SPDX-License-Identifier: MIT */
/*
 * trust: whose files are used, and what a group may do with ours (docs/DESIGN.md C5)
 *
 * Not shared: files owned by this user or root, and writable by their owner only.
 *
 * Shared: the group is that of the cache's root directory. A file that the group can write, or that another user owns,
 * is used only if it has the group of its directory; another user's only if this process is in that group, too. A
 * directory of another group than its parent's is used only if this user or root owns it and it is closed to everybody
 * else: so the group of a directory that others reach is always the root's. Files that everybody can write are never
 * used. An access control list shows in the mode (its mask replaces the group's bits).
 *
 * Files that we make in a shared cache get the group of their directory, with the rights that it has there. The kernel
 * sets that group in setgid directories only, and some file systems never do. If it cannot be set afterwards either,
 * the file stays ours alone.
 *
 * In a user namespace, ids without a name appear as 65534. A user who is 65534 there cannot tell what is ours, and
 * trusts root's files only. Nor does that group count.
 *
 * Errors: what cannot be determined is not trusted, and not opened to a group. State: the namespace's id maps, read
 * once.
 */
#ifndef CACHE_TRUST_H
#define CACHE_TRUST_H

#include <stdbool.h>
#include <sys/stat.h>

/* Does this user or root own it? */
bool trust_owner(const struct stat *found);
/* Would a file that this process makes be trusted? */
bool trust_user(void);

/* Is a file found in `parent` trusted? AT_FDCWD: it is the root. If not shared, the only system call is geteuid(). */
bool trust_found(bool shared, int parent, const struct stat *found);

/*
 * Returns the mode for a new file, out of `all` (0777, 0666): open to the group at once, if the file gets the right
 * group then. Other processes may open it at once, and this one may be killed before it is settled.
 */
mode_t trust_first_mode(bool shared, int parent, mode_t all);
/*
 * Sets the final mode and group of a new file or directory in `parent` (AT_FDCWD: the root), independently of the
 * umask.
 */
void trust_settle_directory(bool shared, int parent, const char *path);
int trust_settle_file(bool shared, int parent, int file);

#endif

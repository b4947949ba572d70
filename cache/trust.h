/* SPDX-License-Identifier: MIT */
/*
 * trust: whose things are used, and what a group may do with ours (docs/DESIGN.md C5)
 *
 * Alone: what is owned by us or root, and writable by the owner only. Shared: THE group is that of the cache's root
 * directory. What it may write, or what is owned by somebody else, is used only if it belongs to the group of the
 * directory that it lies in, and the latter only if that group is one of ours. A directory of another group than the
 * one above is used only if it is ours or root's and closed to everybody else, so that nobody else reaches what lies in
 * it: hence the group of a directory that others reach is always the root's. What everybody can write is never used. An
 * access control list shows in the mode (its mask stands where the group's bits are).
 *
 * What we make in a shared cache belongs to the group of the directory above, which may do with it what it may do
 * there. The kernel gives a new file that group in directories with setgid only, and some file systems never; where it
 * cannot be had afterwards either, what we have made is ours alone.
 *
 * In a user namespace an id that has no name shows as 65534, as does everybody else's without one: who is 65534 there
 * cannot tell what is ours, and trusts nothing but root's. Nor is a group of that number one, then.
 *
 * Errors: what cannot be found out is not trusted, and not opened to a group. State: what the kernel said once of the
 * user namespace.
 */
#ifndef CACHE_TRUST_H
#define CACHE_TRUST_H

#include <stdbool.h>
#include <sys/stat.h>

/* Is it ours or root's? */
bool trust_owner(const struct stat *found);
/* Would we trust what we make? */
bool trust_user(void);

/* Of what was found in `parent`; AT_FDCWD: it is the root. Unshared, this makes no system call but geteuid. */
bool trust_found(bool shared, int parent, const struct stat *found);

/*
 * With what mode to make something, out of `all` (0777, 0666): open to the group from the first moment, where it is the
 * right one then. Others may look at once, and whoever makes it may be killed before it is settled.
 */
mode_t trust_first_mode(bool shared, int parent, mode_t all);
/* Gives what we have just made in `parent` (or the root, AT_FDCWD) its mode, whatever the umask was, and its group. */
void trust_settle_directory(bool shared, int parent, const char *path);
int trust_settle_file(bool shared, int parent, int file);

#endif

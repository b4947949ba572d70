/* SPDX-License-Identifier: MIT */
/*
 * directory: the cache directory on disk: how it is made, where things lie in it (docs/DESIGN.md C1, C5)
 *
 * Layout: <path>/CACHEDIR.TAG, <path>/v1/ab/<62 hex> (entries), <path>/v1/ab/tmp.<pid>.<random> (temporaries),
 * <path>/v1/lock (see cache/lock.h), <path>/v1/usage-index (see cache/upkeep/usage_index.h). Directories get mode 0700, or those
 * of the group too when shared, whatever the umask is; missing parents of <path> are made with 0700 less the umask.
 * <path>/v1 is the cache's home: whoever works in it has a descriptor of it, and names are relative to that.
 *
 * Trust: cache/trust.h says whose things are used. The root must not be a symbolic link; its parents may. From the root
 * on each directory is opened by itself, never through a link, and asked whom it belongs to: a member of the group
 * could otherwise put a link where a directory was, and have another write, lock and remove in a place of the member's
 * choice. For the same reason a file that has another name too (a hard link) is not written.
 *
 * Calling sequence: directory_open() for each call of the store, everything else relative to it, close().
 * Errors: negative errno values; -EPERM: not trusted; -ENOTDIR: a symbolic link, or no directory, where one should be.
 * Ownership: descriptors are the caller's to close (O_CLOEXEC). State: what directory_settle() was told.
 */
#ifndef CACHE_DIRECTORY_H
#define CACHE_DIRECTORY_H

#include "cache/entry.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#define DIRECTORY_NAME_BYTES (2 * (ENTRY_KEY_BYTES - 1) + 1) /* 62 digits, NUL */
#define DIRECTORY_SHARDS     256

struct directory {
	char *path; /* absolute, without a slash at its end */
	bool shared;
};

/*
 * Where the process is at home, told once before it has threads that ask: `path` is the cache directory or NULL, the
 * first `home_length` bytes of it are $HOME (0: somebody has chosen it). Afterwards nothing is made while "/" is
 * another directory than now (a host has called chroot: nobody has asked for a cache there), nor in a $HOME that is
 * missing or somebody else's (who is not root: root needs no permission to remove what we have left there).
 */
void directory_settle(const char *path, size_t home_length);

/* To reach files in it (O_PATH), to read its names too, or to be made first when missing. */
enum directory_want { DIRECTORY_REACH, DIRECTORY_LIST, DIRECTORY_MAKE };

/* Opens the home (O_PATH). DIRECTORY_MAKE: makes it, and the root, when missing; -ENXIO: not here, see above. */
int directory_open(const struct directory *directory, enum directory_want want, int *ret_home);

/* A directory in the home. */
int directory_open_place(const struct directory *directory, int home, const char *name, enum directory_want want,
                         int *ret_place);
int directory_open_shard(const struct directory *directory, int home, unsigned shard, enum directory_want want,
                         int *ret_shard);

/*
 * A file of ours in one of these: O_RDONLY, O_RDWR, or O_RDWR | O_CREAT, the latter with O_APPEND too. -EPERM: no regular
 * file, not trusted, or to be written and with more than one name.
 */
int directory_open_file(const struct directory *directory, int at, const char *name, int flags, int *ret_file);
/* Is it ours by its first bytes: `magic`, or nothing yet, or zeros (a crash)? Any other was put there by somebody. */
bool directory_is_ours(int file, const void *magic);
#define DIRECTORY_MAGIC_BYTES 8

/* The name of a key's file in its shard. */
void directory_entry_name(const uint8_t key[ENTRY_KEY_BYTES], char ret_name[DIRECTORY_NAME_BYTES]);
/* The key that a name in a shard stands for; false: it is not the name of an entry. */
bool directory_entry_key(unsigned shard, const char *name, uint8_t ret_key[ENTRY_KEY_BYTES]);

/* A temporary of ours by its name: "tmp.<pid>.<random>" (cache/temporary.c). */
bool directory_is_temporary(const char *name);

enum directory_kind { DIRECTORY_ENTRY, DIRECTORY_TEMPORARY };
/* Called for every entry and temporary file of the directory. A negative return is kept, and the walk goes on. */
typedef int directory_visit(void *context, int shard, const char *name, enum directory_kind kind);

/* Returns the first error met, of a shard or of a visit. A home or shard that is missing has no files. */
int directory_walk_shard(const struct directory *directory, int home, unsigned shard, directory_visit *visit,
                         void *context);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * directory: the cache directory: opening it, making it, names in it (docs/DESIGN.md C1, C5)
 *
 * Layout: <path>/CACHEDIR.TAG, <path>/v1/ab/<62 hex> (entries), <path>/v1/ab/tmp.<pid>.<random> (temporary files),
 * <path>/v1/lock (cache/lock.h), <path>/v1/usage-index (cache/upkeep/usage_index.h). Directories get mode 0700, or
 * those of the group too if shared, whatever the umask is. Missing parents of <path> are made with 0700 less the umask.
 * <path>/v1 is the home: callers hold a descriptor of it, and names are relative to that.
 *
 * Trust: cache/trust.h. The root must not be a symbolic link; its parents may be. Below the root no
 * directory is reached through a link, and the owner of each is checked; in a shared cache each is opened by itself:
 * otherwise a member of the group could replace a directory by a link, and have another user write and remove files
 * elsewhere. For the same reason, a file with a second hard link is not written.
 *
 * Calling sequence: directory_open() for each call of the store, everything else relative to the home, close().
 * Errors: negative errno values; -EPERM: not trusted; -ENOTDIR: a symbolic link, or not a directory.
 * Ownership: descriptors are the caller's to close (O_CLOEXEC). State: the arguments of directory_settle().
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
#define DIRECTORY_HOME       "v1"

struct directory {
	char *path; /* absolute, without a slash at its end */
	bool shared;
};

/*
 * Remembers the surroundings of the process; call once, before there are threads. `path` is the cache directory or
 * NULL; its first `home_length` bytes are $HOME (0: the user has chosen the directory). Afterwards nothing is made
 * while "/" is another directory (after chroot() a cache there was not asked for), nor in a $HOME that is missing or
 * another user's (but root's: files that we left there could not be removed by their owner).
 */
void directory_settle(const char *path, size_t home_length);

/* REACH: to open files in it (O_PATH). LIST: to read its names too. MAKE: the same, made first if missing. */
enum directory_want { DIRECTORY_REACH, DIRECTORY_LIST, DIRECTORY_MAKE };

/* Opens the home (O_PATH). DIRECTORY_MAKE makes it and the root if missing; -ENXIO: not in these surroundings. */
int directory_open(const struct directory *directory, enum directory_want want, int *ret_home);

/* Opens a directory in the home. */
int directory_open_place(const struct directory *directory, int home, const char *name, enum directory_want want,
                         int *ret_place);
int directory_open_shard(const struct directory *directory, int home, unsigned shard, enum directory_want want,
                         int *ret_shard);

/*
 * Opens the root (O_PATH) if it, the home and `place` ("v1/ab", relative to the root) are trusted. A file can then be
 * opened by its path from the root, in half the system calls. -EOPNOTSUPP: the cache is shared, so another user could
 * replace a directory after the check, and each has to be opened.
 */
int directory_open_root(const struct directory *directory, const char *place, int *ret_root);

/*
 * Opens a file of ours in one of these directories with O_RDONLY, O_RDWR, or O_RDWR | O_CREAT (and O_APPEND). -EPERM:
 * not a regular file, not trusted, or to be written and with more than one hard link.
 */
int directory_open_file(const struct directory *directory, int at, const char *name, int flags, int *ret_file);
/* The same, with what was seen of the file. */
int directory_open_seen(const struct directory *directory, int at, const char *name, int flags, int *ret_file,
                        struct stat *ret_found);
/* Is the file ours by its first bytes: `magic`, none yet, or zeros (after a crash)? */
bool directory_is_ours(int file, const void *magic);
#define DIRECTORY_MAGIC_BYTES 8

/* The name of a key's file in its shard. */
void directory_entry_name(const uint8_t key[ENTRY_KEY_BYTES], char ret_name[DIRECTORY_NAME_BYTES]);
/* The key that a name in a shard stands for; false: it is not the name of an entry. */
bool directory_entry_key(unsigned shard, const char *name, uint8_t ret_key[ENTRY_KEY_BYTES]);

/* Is it the name of a temporary file of ours: "tmp.<pid>.<random>" (cache/temporary.c)? */
bool directory_is_temporary(const char *name);

enum directory_kind { DIRECTORY_ENTRY, DIRECTORY_TEMPORARY };
/* Called for every entry and temporary file. A negative return is remembered, and the walk continues. */
typedef int directory_visit(void *context, int shard, const char *name, enum directory_kind kind);

/* Returns the first error, of the shard or of a visit. A missing home or shard has no files. */
int directory_walk_shard(const struct directory *directory, int home, unsigned shard, directory_visit *visit,
                         void *context);

#endif

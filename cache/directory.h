/* SPDX-License-Identifier: MIT */
/*
 * directory: opens and creates the cache directory, and defines the names in it (docs/DESIGN.md C1, C5)
 *
 * Layout: <path>/CACHEDIR.TAG, <path>/v1/ab/<62 hex> (entries), <path>/v1/ab/tmp.<pid>.<number> (temporary files),
 * <path>/v1/lock (cache/lock.h), <path>/v1/sums (cache/upkeep/sums.h). Directories get mode 0700, and
 * also the bits of the group if shared, whatever the umask is. Missing parents of <path> are created with 0700 less the
 * umask. <path> is the root. <path>/v1 is the home: callers have a descriptor of it, and names are relative to it.
 *
 * Trust: cache/trust.h. The root must not be a symbolic link; its parents may be. Below the root no directory is
 * reached through a link, and the owner of each is checked. In a shared cache each directory is opened separately:
 * otherwise a member of the group could replace a directory by a link, and make another user write and remove files
 * elsewhere. For the same reason, a file with a second hard link is not written.
 *
 * Calling sequence: directory_open() for each call of the store, everything else relative to the home, close().
 * Errors: negative errno values; -EPERM: not trusted; -ENOTDIR: a symbolic link, or not a directory.
 * Ownership: the caller closes the descriptors (O_CLOEXEC).
 */
#ifndef CACHE_DIRECTORY_H
#define CACHE_DIRECTORY_H

#include "cache/entry.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#define DIRECTORY_REQUEST    ".request"
#define DIRECTORY_NAME_BYTES (2 * (ENTRY_KEY_BYTES - 1) + sizeof(DIRECTORY_REQUEST)) /* 62 digits, suffix, NUL */
#define DIRECTORY_SHARDS     256
#define DIRECTORY_HOME       "v1"

struct directory {
	const char *path; /* absolute, without a slash at the end (directory_strip()) */
	bool shared;
};

/* REACH: to open files in it (O_PATH). LIST: to read its names too. MAKE: like LIST, but created first if missing. */
enum directory_want { DIRECTORY_REACH, DIRECTORY_LIST, DIRECTORY_MAKE };

/* Removes slashes at the end of a path: behind them O_NOFOLLOW has no effect on a symbolic link. "/" stays. */
void directory_strip(char *path);

/* Opens the home (O_PATH). DIRECTORY_MAKE creates it and the root. -ENXIO: it may not be created (cache/trust.h). */
int directory_open(const struct directory *directory, enum directory_want want, int *ret_home);

/* Opens a directory in the home. */
int directory_open_shard(const struct directory *directory, int home, unsigned shard, enum directory_want want,
                         int *ret_shard);

/*
 * Opens the root (O_PATH) if it, the home and `place` ("v1/ab", relative to the root; NULL: none) are trusted. Then a
 * file can be opened by its path from the root, with half the system calls. -EOPNOTSUPP: the cache is shared; each
 * directory has to be opened, because another user could replace one after the check.
 */
int directory_open_root(const struct directory *directory, const char *place, int *ret_root);
/*
 * Keeps a root that directory_open_root() opened for its next call in this thread, for the same directory: that judges
 * `place` alone. No code of others may run before directory_drop_root(), which closes it if it was not used.
 */
void directory_keep_root(int root);
void directory_drop_root(void);

/*
 * Opens a file in one of these directories with O_RDONLY, O_RDWR, or O_RDWR | O_CREAT (and O_APPEND). -EPERM: it is not
 * a regular file, not trusted, or has a second hard link and would be opened for writing. `ret_found` may be NULL.
 */
int directory_open_file(const struct directory *directory, int at, const char *name, int flags, int *ret_file,
                        struct stat *ret_found);
/* Returns whether the first bytes are those of a file of ours: `magic`, zeros (after a crash), or none yet. */
bool directory_is_ours(int file, const void *magic);
#define DIRECTORY_MAGIC_BYTES 8

/*
 * ENTRY: the file of a key; BESIDE: its request; FACTS: keygen/facts.h. TEMPORARY: "tmp.<pid>.<number>"
 * (cache/store_put.c), or another name after "tmp."; a file is removed only if its first bytes are ours. FOREIGN: the
 * name is not one of ours.
 */
enum directory_kind { DIRECTORY_ENTRY, DIRECTORY_BESIDE, DIRECTORY_FACTS, DIRECTORY_TEMPORARY, DIRECTORY_FOREIGN };
/* Writes the name that one of the first three has in the shard of its key. */
void directory_name(const uint8_t key[ENTRY_KEY_BYTES], enum directory_kind kind, char ret_name[DIRECTORY_NAME_BYTES]);

struct directory_file {
	int shard; /* descriptor */
	const char *name;
	enum directory_kind kind;
	uint8_t key[ENTRY_KEY_BYTES]; /* of the entry */
};
/* Called for every file. After a negative return value the walk continues. */
typedef int directory_visit(void *context, const struct directory_file *file);

/* Visits the files of a shard. Returns the first error, of the shard or of a visit. A missing shard has no files. */
int directory_walk_shard(const struct directory *directory, int home, unsigned shard, directory_visit *visit,
                         void *context);

#endif

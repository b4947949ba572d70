/* SPDX-License-Identifier: MIT */
/*
 * The file may have been replaced by a sound one since it was read: it is removed only if device, inode, size and
 * mtime are still those that were seen.
 */
#include "cache/discard.h"

#include "cache/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/* ctime is not compared: a hit of another process sets the atime, and with it ctime, without a change of content. */
static bool is_same(const struct stat *found, const struct stat *seen)
{
	return found->st_dev == seen->st_dev && found->st_ino == seen->st_ino && found->st_size == seen->st_size &&
	       found->st_mtim.tv_sec == seen->st_mtim.tv_sec && found->st_mtim.tv_nsec == seen->st_mtim.tv_nsec;
}

/* The lock is not waited for: its holder is replacing the file anyway. */
int discard_file(const struct directory *directory, int home, int shard, const uint8_t key[ENTRY_KEY_BYTES],
                 const char *name, const struct stat *seen)
{
	struct stat found;
	int lock = -1;
	int rc = -EAGAIN;

	if (lock_take_key(directory, home, key, 0, &lock) < 0) {
		return rc;
	}
	if (fstatat(shard, name, &found, AT_SYMLINK_NOFOLLOW) == 0 && is_same(&found, seen)) {
		rc = unlinkat(shard, name, S_ISDIR(found.st_mode) ? AT_REMOVEDIR : 0) < 0 ? -errno : 0;
	}
	lock_release(lock);
	return rc;
}

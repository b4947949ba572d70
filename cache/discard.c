/* SPDX-License-Identifier: MIT */
/*
 * Another process may have replaced the file by a sound one since it was read. The file is removed only if device,
 * inode, size and mtime have not changed.
 */
#include "cache/discard.h"

#include "cache/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/* ctime is not compared, because a hit in another process sets the atime, which changes the ctime but no content. */
static bool is_same(const struct stat *found, const struct stat *seen)
{
	return found->st_dev == seen->st_dev && found->st_ino == seen->st_ino && found->st_size == seen->st_size &&
	       found->st_mtim.tv_sec == seen->st_mtim.tv_sec && found->st_mtim.tv_nsec == seen->st_mtim.tv_nsec;
}

/* Does not wait for the lock, because its holder is about to replace the file. */
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

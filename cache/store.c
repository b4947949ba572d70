/* SPDX-License-Identifier: MIT */
/*
 * store: reading the results of a key from its file
 *
 *   open, check trust --> for each result, newest first: header -> key -> dependencies sound -> check() holds?
 *     |        |              |                                              no: next      yes: adopt, update atime
 *     |        | -EPERM       | damage: -EBADMSG                             no result left: -ESTALE
 *     |        `------------- +--> discard, unless the file was replaced meanwhile
 *     `-> -ENOENT
 */
#include "cache/store.h"

#include "cache/calls.h"
#include "cache/digits.h"
#include "cache/directory.h"
#include "cache/lock.h"
#include "cache/recency.h"
#include "cache/source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

int64_t store_now(const struct store *store)
{
	return store->clock ? store->clock() : recency_now();
}

static int find_result(struct source *source, const uint8_t key[ENTRY_KEY_BYTES], store_check *check, void *context,
                       struct entry **ret_entry)
{
	struct entry_info info;
	uint64_t offset;
	unsigned count;

	for (offset = 0, count = 0; offset < source->size && count < STORE_RESULTS_MAX; offset += info.total_size) {
		const uint8_t *head = NULL;
		int rc = source_header(source, offset, key, &info);

		if (rc == 0) {
			rc = source_head(source, offset, &info, &head);
		}
		if (rc < 0) {
			return rc;
		}
		if (!check || info.dependencies_size == 0 ||
		    check(context, head + ENTRY_HEADER_BYTES, info.dependencies_size)) {
			return source_take(source, offset, &info, ret_entry);
		}
		count++;
	}
	return -ESTALE;
}

/*
 * Returns whether the process may become another user. It cannot if its three user ids are equal and not root's. That
 * is final, so it is remembered and later calls need no system call.
 */
static bool user_may_change(void)
{
	static _Atomic bool settled;
	uid_t real = 0;
	uid_t effective = 0;
	uid_t saved = 0;

	if (atomic_load_explicit(&settled, memory_order_relaxed)) {
		return false;
	}
	if (getresuid(&real, &effective, &saved) < 0 || effective == 0 || real != effective || saved != effective) {
		return true;
	}
	atomic_store_explicit(&settled, true, memory_order_relaxed);
	return false;
}

static int read_result(const struct store *store, int at, const char *path, const uint8_t key[ENTRY_KEY_BYTES],
                       store_check *check, void *context, struct stat *ret_found, struct entry **ret_entry)
{
	struct source source = {.file = -1};
	int64_t now = store->read_only ? 0 : store_now(store);
	int rc = source_open(&store->directory, at, path, ret_found, &source);

	/* A process with this limit did not write such a file: it is forged, or of a process with a larger limit. */
	if (rc == 0 && source.size > entry_size_limit(store->max_size)) {
		rc = -ENOENT;
	}
	if (rc == 0) {
		rc = find_result(&source, key, check, context, ret_entry);
	}
	source_close(&source);
	if (rc == 0 && (ret_found->st_uid != 0 || (ret_found->st_mode & S_IWGRP)) && user_may_change()) {
		entry_set_reader(*ret_entry, geteuid());
	}
	if (rc == 0 && !store->read_only && recency_due(ret_found, now)) {
		recency_touch(at, path, ret_found, now);
	}
	return rc;
}

/* A file of a shard that is to be read: `path` is relative to `at`. */
struct place {
	int at;
	int root, home, shard; /* -1: not open */
	char path[sizeof(DIRECTORY_HOME "/ab/") + DIRECTORY_NAME_BYTES];
	char *name; /* in the shard: the end of `path` */
};

static int open_directories(const struct store *store, const uint8_t key[ENTRY_KEY_BYTES], struct place *place)
{
	int rc = directory_open(&store->directory, DIRECTORY_REACH, &place->home);

	if (rc == 0) {
		rc = directory_open_shard(&store->directory, place->home, key[0], DIRECTORY_REACH, &place->shard);
	}
	return rc;
}

/*
 * Finds the place of a key's file. In a private cache it is reached by its path from the root. In a shared cache, and
 * to remove a file, the directories are opened one by one. The caller calls leave() whatever this returns. -EIO: ESTALE
 * of a network file system; for callers of the store -ESTALE means that no result holds.
 */
static int reach(const struct store *store, const uint8_t key[ENTRY_KEY_BYTES], struct place *ret_place)
{
	struct place *place = ret_place;
	char *shard = place->path + sizeof(DIRECTORY_HOME);
	int rc;

	*place = (struct place){.root = -1, .home = -1, .shard = -1, .path = DIRECTORY_HOME "/", .name = shard + 3};
	if (!store->directory.path) {
		return -ENXIO;
	}
	(void)digits_spell(key, 1, shard);
	rc = directory_open_root(&store->directory, place->path, &place->root);
	shard[2] = '/';
	directory_name(key, DIRECTORY_ENTRY, place->name);
	place->at = place->root;
	if (rc == -EOPNOTSUPP) {
		rc = open_directories(store, key, place);
		directory_name(key, DIRECTORY_ENTRY, place->path);
		place->name = place->path;
		place->at = place->shard;
	}
	return rc == -ESTALE ? -EIO : rc;
}

static void leave(const struct place *place)
{
	call_close(place->shard);
	call_close(place->home);
	call_close(place->root);
}

/*
 * Another process may have replaced the file by a sound one since it was read. The file is removed only if device,
 * inode, size and mtime have not changed. ctime is not compared, because a hit in another process sets the atime, which
 * changes the ctime but no content.
 */
static bool is_same(const struct stat *found, const struct stat *seen)
{
	return found->st_dev == seen->st_dev && found->st_ino == seen->st_ino && found->st_size == seen->st_size &&
	       found->st_mtim.tv_sec == seen->st_mtim.tv_sec && found->st_mtim.tv_nsec == seen->st_mtim.tv_nsec;
}

/* Does not wait for the lock, because its holder is about to replace the file. */
int store_discard(const struct directory *directory, int home, int shard, const uint8_t key[ENTRY_KEY_BYTES],
                  const char *name, const struct stat *seen)
{
	struct stat found;
	int lock = -1;
	int rc = -EAGAIN;

	if (lock_take(directory, home, key, 0, &lock) < 0) {
		return rc;
	}
	if (fstatat(shard, name, &found, AT_SYMLINK_NOFOLLOW) == 0 && is_same(&found, seen)) {
		rc = unlinkat(shard, name, S_ISDIR(found.st_mode) ? AT_REMOVEDIR : 0) < 0 ? -errno : 0;
	}
	lock_release(lock);
	return rc;
}

int store_get(const struct store *store, const uint8_t key[ENTRY_KEY_BYTES], store_check *check, void *context,
              struct entry **ret_entry)
{
	struct place place;
	struct stat found = {0};
	int rc = reach(store, key, &place);

	if (rc == 0) {
		rc = read_result(store, place.at, place.path, key, check, context, &found, ret_entry);
		if ((rc == -EBADMSG || rc == -EPERM) && !store->read_only &&
		    (place.shard >= 0 || open_directories(store, key, &place) == 0)) {
			(void)store_discard(&store->directory, place.home, place.shard, key, place.name, &found);
		}
	}
	if (rc == 0 && store->keeps_root) {
		directory_keep_root(place.root);
		place.root = -1;
	}
	leave(&place);
	return rc;
}

bool store_has(const struct store *store, const uint8_t key[ENTRY_KEY_BYTES], enum directory_kind kind)
{
	struct place place;
	struct stat found;
	int rc = reach(store, key, &place);

	if (rc == 0) {
		directory_name(key, kind, place.name);
		rc = fstatat(place.at, place.path, &found, AT_SYMLINK_NOFOLLOW);
	}
	leave(&place);
	return rc == 0;
}

int store_get_facts(const struct store *store, const uint8_t key[ENTRY_KEY_BYTES], void *bytes, size_t room)
{
	const int64_t now = store->read_only ? 0 : store_now(store);
	struct place place;
	struct stat found;
	int file;
	int rc = reach(store, key, &place);

	if (rc == 0) {
		directory_name(key, DIRECTORY_FACTS, place.name);
		rc = directory_open_file(&store->directory, place.at, place.path, O_RDONLY, &file, &found);
	}
	if (rc == 0) {
		const ssize_t size = call_pread(file, bytes, room, 0);

		rc = size < 0 ? -errno : (int)size;
		close(file);
		if (!store->read_only && recency_due(&found, now)) {
			recency_touch(place.at, place.path, &found, now);
		}
	}
	leave(&place);
	return rc;
}

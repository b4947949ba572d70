/* SPDX-License-Identifier: MIT */
/* Recorded requests, beside the files of the keys. */
#include "cache/store_state.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* Opens the home and the shard of a key. */
static int open_places(const struct store *store, enum directory_want want, const uint8_t key[ENTRY_KEY_BYTES],
                       int *ret_home, int *ret_shard)
{
	int home = -1;
	int rc = store->directory.path ? directory_open(&store->directory, want, &home) : -ENXIO;

	if (rc < 0) {
		return rc;
	}
	rc = directory_open_shard(&store->directory, home, key[0], want, ret_shard);
	if (rc < 0) {
		close(home);
		return rc;
	}
	*ret_home = home;
	return 0;
}

bool store_has_request(struct store *store, const uint8_t key[ENTRY_KEY_BYTES])
{
	char name[DIRECTORY_REQUEST_BYTES];
	struct stat found;
	int home, shard;
	bool is_there;

	if (open_places(store, DIRECTORY_REACH, key, &home, &shard) < 0) {
		return false;
	}
	directory_request_name(key, name);
	is_there = fstatat(shard, name, &found, AT_SYMLINK_NOFOLLOW) == 0;
	close(shard);
	close(home);
	return is_there;
}

static int publish_request(const struct store *store, int shard, const uint8_t key[ENTRY_KEY_BYTES], const void *bytes,
                           size_t size)
{
	struct temporary temporary;
	char name[DIRECTORY_REQUEST_BYTES];
	int rc = store_begin_file(store, shard, &temporary);

	if (rc < 0) {
		return rc;
	}
	directory_request_name(key, name);
	rc = temporary_append(&temporary, bytes, size);
	rc = rc < 0 ? rc : temporary_publish(&temporary, name, DURABILITY_NONE);
	if (rc < 0) {
		temporary_discard(&temporary);
	}
	return rc;
}

/* The new file counts, so entries may have to be evicted. */
int store_put_request(struct store *store, const uint8_t key[ENTRY_KEY_BYTES], const void *bytes, size_t size)
{
	struct evict stored = {&store->directory, -1, store->max_size, 0, key, size};
	int shard;
	int rc;

	if (store->read_only) {
		return -EROFS;
	}
	if (size > entry_size_limit(store->max_size)) {
		return -EFBIG;
	}
	rc = open_places(store, DIRECTORY_MAKE, key, &stored.home, &shard);
	if (rc < 0) {
		return rc;
	}
	rc = publish_request(store, shard, key, bytes, size);
	close(shard);
	if (rc == 0) {
		struct sample_removed removed;

		stored.now = store->clock();
		removed = evict_after_store(&stored);
		(void)store_note_evictions(store, &removed);
	}
	close(stored.home);
	return rc;
}

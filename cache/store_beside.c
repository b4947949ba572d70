/* SPDX-License-Identifier: MIT */
/* Files beside those of the keys. */
#include "cache/store_state.h"

#include "cache/calls.h"
#include "cache/temporary.h"
#include "cache/trust.h"
#include "cache/upkeep/evict.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAME_BYTES (DIRECTORY_NAME_BYTES + 16)

/* Opens the shard of a key, and writes the name of the file beside the key's. */
static int open_beside(const struct store *store, enum directory_want want, const uint8_t key[ENTRY_KEY_BYTES],
                       const char *suffix, int *ret_shard, char ret_name[NAME_BYTES])
{
	char name[DIRECTORY_NAME_BYTES];
	int home = -1;
	int rc = store->directory.path ? directory_open(&store->directory, want, &home) : -ENXIO;

	if (rc < 0) {
		return rc;
	}
	rc = directory_open_shard(&store->directory, home, key[0], want, ret_shard);
	close(home);
	directory_entry_name(key, name);
	(void)snprintf(ret_name, NAME_BYTES, "%s%s", name, suffix);
	return rc;
}

bool store_has_beside(struct store *store, const uint8_t key[ENTRY_KEY_BYTES], const char *suffix)
{
	char name[NAME_BYTES];
	struct stat found;
	int shard = -1;
	bool is_there;

	if (open_beside(store, DIRECTORY_REACH, key, suffix, &shard, name) < 0) {
		return false;
	}
	is_there = fstatat(shard, name, &found, AT_SYMLINK_NOFOLLOW) == 0;
	close(shard);
	return is_there;
}

/* The new file counts, so that entries may have to be evicted. */
static int count_beside(struct store *store, const uint8_t key[ENTRY_KEY_BYTES], size_t size)
{
	struct evict stored = {&store->directory, -1, store->max_size, store->clock(), key, size};
	struct sample_removed removed;

	if (directory_open(&store->directory, DIRECTORY_REACH, &stored.home) == 0) {
		removed = evict_after_store(&stored);
		atomic_fetch_add_explicit(&store->evictions, removed.entries, memory_order_relaxed);
		close(stored.home);
	}
	return 0;
}

int store_put_beside(struct store *store, const uint8_t key[ENTRY_KEY_BYTES], const char *suffix, const void *bytes,
                     size_t size)
{
	struct temporary temporary;
	char name[NAME_BYTES];
	int shard = -1;
	int rc;

	if (store->read_only) {
		return -EROFS;
	}
	if (size > entry_size_limit(store->max_size)) {
		return -EFBIG;
	}
	rc = open_beside(store, DIRECTORY_MAKE, key, suffix, &shard, name);
	if (rc < 0) {
		return rc;
	}
	rc = temporary_begin(shard, trust_first_mode(store->directory.shared, shard, 0666), &temporary);
	if (rc == 0) {
		rc = store->directory.shared ? trust_settle_file(store->directory.shared, shard, temporary.file) : 0;
		rc = rc < 0 ? rc : temporary_append(&temporary, bytes, size);
		rc = rc < 0 ? rc : temporary_publish(&temporary, name, DURABILITY_NONE);
		if (rc < 0) {
			temporary_discard(&temporary);
		}
	}
	close(shard);
	return rc < 0 ? rc : count_beside(store, key, size);
}

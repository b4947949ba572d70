/* SPDX-License-Identifier: MIT */
/* Files in the shards that are no entries: recorded requests and facts. */
#include "cache/store_state.h"

#include "cache/calls.h"
#include "cache/recency.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

bool store_has(struct store *store, const uint8_t key[ENTRY_KEY_BYTES], enum directory_kind kind)
{
	struct store_place place;
	struct stat found;
	int rc = store_reach(store, key, &place);

	if (rc == 0) {
		if (kind == DIRECTORY_BESIDE) {
			directory_request_name(key, place.name);
		}
		rc = fstatat(place.at, place.path, &found, AT_SYMLINK_NOFOLLOW);
	}
	store_leave(&place);
	return rc == 0;
}

int store_get_facts(struct store *store, const uint8_t key[ENTRY_KEY_BYTES], void *bytes, size_t room)
{
	const int64_t now = store->read_only ? 0 : store->clock();
	struct store_place place;
	struct stat found;
	int file;
	int rc = store_reach(store, key, &place);

	if (rc == 0) {
		directory_facts_name(key, place.name);
		rc = directory_open_seen(&store->directory, place.at, place.path, O_RDONLY, &file, &found);
	}
	if (rc == 0 && (uint64_t)found.st_size > room) {
		rc = -EFBIG;
		if (!store->read_only && directory_is_ours(file, entry_magic)) {
			(void)unlinkat(place.at, place.path, 0);
		}
		close(file);
	}
	if (rc == 0) {
		const ssize_t size = call_pread(file, bytes, room, 0);

		rc = size < 0 ? -errno : (int)size;
		close(file);
		if (!store->read_only && recency_due(&found, now)) {
			recency_touch(place.at, place.path, &found, now);
		}
	}
	store_leave(&place);
	return rc;
}

static int publish(const struct store *store, int shard, const char *name, const void *bytes, size_t size)
{
	struct temporary temporary;
	int rc = store_begin_file(store, shard, &temporary);

	if (rc < 0) {
		return rc;
	}
	rc = temporary_append(&temporary, bytes, size);
	rc = rc < 0 ? rc : temporary_publish(&temporary, name, DURABILITY_NONE);
	if (rc < 0) {
		temporary_discard(&temporary);
	}
	return rc;
}

/* The new file counts, so entries may have to be evicted. */
static int put_beside(struct store *store, const uint8_t key[ENTRY_KEY_BYTES], const char *name, const void *bytes,
                      size_t size)
{
	struct evict stored = {&store->directory, -1, store->max_size, 0, key, size};
	int rc = store_open_home(store, size, &stored.home);
	int shard;

	if (rc < 0) {
		return rc;
	}
	rc = directory_open_shard(&store->directory, stored.home, key[0], DIRECTORY_MAKE, &shard);
	if (rc == 0) {
		rc = publish(store, shard, name, bytes, size);
		close(shard);
	}
	if (rc == 0) {
		stored.now = store->clock();
		store_evict_after(store, &stored);
	}
	close(stored.home);
	return rc;
}

int store_put_request(struct store *store, const uint8_t key[ENTRY_KEY_BYTES], const void *bytes, size_t size)
{
	char name[DIRECTORY_REQUEST_BYTES];

	directory_request_name(key, name);
	return put_beside(store, key, name, bytes, size);
}

int store_put_facts(struct store *store, const uint8_t key[ENTRY_KEY_BYTES], const void *bytes, size_t size)
{
	const uint64_t most = entry_size_limit(store->max_size);
	char name[DIRECTORY_FACTS_BYTES];

	directory_facts_name(key, name);
	return put_beside(store, key, name, bytes, size < most ? size : (size_t)most);
}

/* SPDX-License-Identifier: MIT */
/*
 * Listing reads names, times and sizes and opens no entry. The list is sorted when all shards were read.
 */
#include "cache/tools/inventory.h"

#include "cache/calls.h"
#include "cache/digits.h"
#include "cache/recency.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define FIRST_ROOM 256

struct listing {
	enum directory_kind kind; /* of the files */
	const char *digits;       /* that the keys begin with */
	store_progress *progress;
	int64_t now;
	struct inventory inventory;
	size_t room;
};

bool key_begins(const uint8_t key[ENTRY_KEY_BYTES], const char *digits)
{
	char text[DIGITS_BYTES(ENTRY_KEY_BYTES)];

	return strncasecmp(digits_spell(key, ENTRY_KEY_BYTES, text), digits, strlen(digits)) == 0;
}

/*
 * Skips a file that was removed meanwhile, because other processes evict while this one lists. The entry and not the
 * request says when it was used last, because a hit never touches the request.
 */
static int take_file(void *context, const struct directory_file *file)
{
	struct listing *listing = context;
	struct inventory *inventory = &listing->inventory;
	struct inventory_record *record;
	char name[DIRECTORY_NAME_BYTES];
	struct stat found;

	directory_name(file->key, DIRECTORY_ENTRY, name);
	if (file->kind != listing->kind || !key_begins(file->key, listing->digits) ||
	    (fstatat(file->shard, name, &found, AT_SYMLINK_NOFOLLOW) < 0 &&
	     fstatat(file->shard, file->name, &found, AT_SYMLINK_NOFOLLOW) < 0)) {
		return 0;
	}
	if (inventory->count == listing->room) {
		size_t room = listing->room ? listing->room * 2 : FIRST_ROOM;
		void *grown = realloc(inventory->records, room * sizeof(*record));

		if (!grown) {
			return -ENOMEM;
		}
		inventory->records = grown;
		listing->room = room;
	}
	record = &inventory->records[inventory->count++];
	memcpy(record->key, file->key, sizeof(record->key));
	record->used = recency_past(recency_of(&found), listing->now);
	record->size = (uint64_t)found.st_size;
	return 0;
}

/* Equal times are ordered by key, so that two runs give the same order. */
static int compare_records(const void *left, const void *right)
{
	const struct inventory_record *a = left;
	const struct inventory_record *b = right;

	if (a->used != b->used) {
		return a->used < b->used ? -1 : 1;
	}
	return memcmp(a->key, b->key, ENTRY_KEY_BYTES);
}

/* A shard that cannot be read is counted, unless the listing was stopped or has no memory. */
static int list_shards(const struct directory *directory, int home, struct listing *listing)
{
	for (unsigned shard = 0; shard < DIRECTORY_SHARDS; shard++) {
		const struct inventory *inventory = &listing->inventory;
		int rc = directory_walk_shard(directory, home, shard, take_file, listing);

		if (rc == -ENOMEM) {
			return rc;
		}
		listing->inventory.failures += rc < 0;
		/* keys are digests, so all shards have about the same number of files */
		if (listing->progress &&
		    listing->progress("listing", inventory->count, inventory->count * DIRECTORY_SHARDS / (shard + 1))) {
			return -EINTR;
		}
	}
	return 0;
}

/* A missing home is no error: the inventory is then empty. */
int inventory_take(const struct directory *directory, enum directory_kind kind, const char *digits,
                   store_progress *progress, struct inventory *ret_inventory)
{
	struct listing listing = {.kind = kind, .digits = digits, .progress = progress, .now = recency_now()};
	struct inventory *inventory = &listing.inventory;
	int home;
	int rc = directory_open(directory, DIRECTORY_REACH, &home);

	if (rc == 0) {
		rc = list_shards(directory, home, &listing);
		close(home);
	}
	if (rc < 0 && rc != -ENOENT) {
		inventory_free(inventory);
		return rc;
	}
	if (inventory->count > 0) {
		qsort(inventory->records, inventory->count, sizeof(*inventory->records), compare_records);
	}
	*ret_inventory = *inventory;
	return 0;
}

/* Accepts an empty inventory. */
void inventory_free(struct inventory *inventory)
{
	free(inventory->records);
	*inventory = (struct inventory){.records = NULL};
}

int inventory_read(const struct directory *directory, const uint8_t key[ENTRY_KEY_BYTES], source_visit *visit,
                   void *context)
{
	struct source source = {.file = -1};
	uint64_t end;
	char name[DIRECTORY_NAME_BYTES];
	struct stat found = {0};
	int shard = -1;
	int home;
	int rc = directory_open(directory, DIRECTORY_REACH, &home);

	if (rc == 0) {
		rc = directory_open_shard(directory, home, key[0], DIRECTORY_REACH, &shard);
		close(home);
	}
	if (rc == 0) {
		directory_name(key, DIRECTORY_ENTRY, name);
		rc = source_open(directory, shard, name, &found, &source);
		close(shard);
	}
	if (rc < 0) {
		return rc;
	}
	call_keep_atime(source.file); /* inspection is not use */
	rc = source_each(&source, key, visit, context, &end);
	source_close(&source);
	return rc;
}

/* ---- entries from elsewhere ---- */

static bool ask_the_same(void *context, const void *dependencies, size_t size)
{
	size_t wanted_size;
	const void *wanted = entry_dependencies(context, &wanted_size);

	return size == wanted_size && memcmp(dependencies, wanted, size) == 0;
}

static bool is_known(const struct store *store, const struct entry *entry)
{
	size_t size, other_size;
	const void *bytes = entry_bytes(entry, &size);
	struct entry *found;
	bool known;

	if (store_get(store, entry_info(entry)->key, ask_the_same, (void *)entry, &found) != 0) {
		return false;
	}
	known = memcmp(entry_bytes(found, &other_size), bytes, size < other_size ? size : other_size) == 0 &&
	        size == other_size;
	entry_unref(found);
	return known;
}

int inventory_add(const struct store *store, const struct entry *entry)
{
	return is_known(store, entry) ? 1 : store_put(store, entry);
}

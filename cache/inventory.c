/* SPDX-License-Identifier: MIT */
#include "cache/inventory.h"

#include "cache/recency.h"
#include "cache/source.h"
#include "cache/store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FIRST_ROOM 256

struct taking {
	struct inventory inventory;
	size_t room;
	unsigned shard;
	struct inventory_beginning beginning; /* no digits: all keys */
};

static bool begins(const uint8_t *key, const struct inventory_beginning *beginning)
{
	const size_t whole = beginning->digits / 2;

	return memcmp(key, beginning->bytes, whole) == 0 &&
	       (beginning->digits % 2 == 0 || (key[whole] & 0xf0) == (beginning->bytes[whole] & 0xf0));
}

static int take_file(void *context, int shard, const char *name, enum directory_kind kind)
{
	struct taking *taking = context;
	struct inventory *inventory = &taking->inventory;
	struct inventory_record record;
	struct stat found;

	if (kind == DIRECTORY_TEMPORARY || !directory_entry_key(taking->shard, name, record.key) ||
	    !begins(record.key, &taking->beginning) || fstatat(shard, name, &found, AT_SYMLINK_NOFOLLOW) < 0) {
		return 0;
	}
	record.used = recency_of(&found);
	if (inventory->count == taking->room) {
		size_t room = taking->room ? taking->room * 2 : FIRST_ROOM;
		void *grown = reallocarray(inventory->records, room, sizeof(record));

		if (!grown) {
			return -ENOMEM;
		}
		inventory->records = grown;
		taking->room = room;
	}
	inventory->records[inventory->count++] = record;
	return 0;
}

static int compare(const void *left, const void *right)
{
	const struct inventory_record *a = left;
	const struct inventory_record *b = right;

	if (a->used != b->used) {
		return a->used < b->used ? -1 : 1;
	}
	return memcmp(a->key, b->key, ENTRY_KEY_BYTES);
}

static bool shard_begins(unsigned shard, const struct inventory_beginning *beginning)
{
	const uint8_t key[ENTRY_KEY_BYTES] = {(uint8_t)shard};
	const struct inventory_beginning first = {{beginning->bytes[0]}, beginning->digits < 2 ? beginning->digits : 2};

	return begins(key, &first);
}

int inventory_find(const struct directory *directory, const struct inventory_beginning *beginning,
                   struct inventory *ret_inventory)
{
	struct taking taking = {.beginning = *beginning};
	int home = -1;
	int rc = directory_open(directory, DIRECTORY_REACH, &home);

	if (rc < 0 && rc != -ENOENT) {
		return rc;
	}
	for (rc = 0; home >= 0 && taking.shard < DIRECTORY_SHARDS && rc != -ENOMEM; taking.shard++) {
		if (!shard_begins(taking.shard, beginning)) {
			continue;
		}
		rc = directory_walk_shard(directory, home, taking.shard, take_file, &taking);
		taking.inventory.failures += rc < 0;
	}
	if (home >= 0) {
		close(home);
	}
	if (rc == -ENOMEM) {
		inventory_free(&taking.inventory);
		return rc;
	}
	if (taking.inventory.count > 0) {
		qsort(taking.inventory.records, taking.inventory.count, sizeof(*taking.inventory.records), compare);
	}
	*ret_inventory = taking.inventory;
	return 0;
}

int inventory_take(const struct directory *directory, struct inventory *ret_inventory)
{
	const struct inventory_beginning all = {.digits = 0};

	return inventory_find(directory, &all, ret_inventory);
}

void inventory_free(struct inventory *inventory)
{
	free(inventory->records);
	*inventory = (struct inventory){.records = NULL};
}

/* One result of a file: where it lies, and what its header says. */
struct place {
	uint64_t offset;
	struct entry_info info;
};

/* From the last to the first: a file has the newest in front. */
static int visit_results(struct source *source, const struct place *places, size_t count, inventory_visit *visit,
                         void *context)
{
	int damage = 0;

	while (count-- > 0) {
		struct entry *entry;
		int rc = source_take(source, places[count].offset, &places[count].info, NULL, &entry);

		if (rc == -EBADMSG) {
			damage = rc;
			continue;
		}
		if (rc == 0) {
			rc = visit(context, entry);
			entry_unref(entry);
		}
		if (rc < 0) {
			return rc;
		}
	}
	return damage;
}

static int read_source(struct source *source, const uint8_t *key, inventory_visit *visit, void *context)
{
	struct place places[STORE_RESULTS_MAX];
	uint64_t offset = 0;
	size_t count = 0;
	int rc = source_load(source);
	int given;

	while (rc == 0 && offset < source->size && count < STORE_RESULTS_MAX) {
		rc = source_header(source, offset, key, &places[count].info);
		if (rc == 0) {
			places[count].offset = offset;
			offset += places[count++].info.total_size;
		}
	}
	if (rc < 0 && rc != -EBADMSG) {
		return rc;
	}
	given = visit_results(source, places, count, visit, context);
	return given < 0 ? given : rc;
}

int inventory_read(const struct directory *directory, const uint8_t key[ENTRY_KEY_BYTES], inventory_visit *visit,
                   void *context)
{
	struct source source = {.file = -1};
	char name[DIRECTORY_NAME_BYTES];
	struct stat found = {0};
	int home = -1;
	int shard = -1;
	int rc = directory_open(directory, DIRECTORY_REACH, &home);

	if (rc < 0) {
		return rc;
	}
	rc = directory_open_shard(directory, home, key[0], DIRECTORY_REACH, &shard);
	close(home);
	if (rc < 0) {
		return rc;
	}
	directory_entry_name(key, name);
	rc = source_open(directory, shard, name, &found, &source);
	close(shard);
	if (rc < 0) {
		return rc;
	}
	(void)fcntl(source.file, F_SETFL, O_NONBLOCK | O_NOATIME);
	rc = read_source(&source, key, visit, context);
	source_close(&source);
	return rc;
}

/* SPDX-License-Identifier: MIT */
#include "cache/tools/inventory.h"

#include "cache/recency.h"
#include "cache/source.h"
#include "cache/store.h"
#include "cache/tools/usage.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define FIRST_ROOM  256
#define DESCRIPTORS 96 /* are left for others than a reader */

/* What one shard has. */
struct taking {
	const struct listing *listing;
	struct inventory inventory;
	size_t room;
	unsigned shard;
	int error;
};

struct listing {
	const struct directory *directory;
	const struct inventory_beginning *beginning; /* no digits: all keys */
	struct chore *chore;
	int home;
	struct taking shards[DIRECTORY_SHARDS];
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

	if (chore_stopped(taking->listing->chore)) {
		return -EINTR;
	}
	if (kind == DIRECTORY_TEMPORARY || !directory_entry_key(taking->shard, name, record.key) ||
	    !begins(record.key, taking->listing->beginning) || fstatat(shard, name, &found, AT_SYMLINK_NOFOLLOW) < 0) {
		return 0;
	}
	chore_add(taking->listing->chore, 1);
	record.used = recency_of(&found);
	record.size = (uint64_t)found.st_size;
	if (inventory->count == taking->room) {
		size_t room = taking->room ? taking->room * 2 : FIRST_ROOM;
		void *grown = realloc(inventory->records, room * sizeof(record));

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

static void take_shard(void *context, unsigned shard)
{
	struct listing *listing = context;
	struct taking *taking = &listing->shards[shard];

	taking->listing = listing;
	taking->shard = shard;
	if (shard_begins(shard, listing->beginning)) {
		taking->error = directory_walk_shard(listing->directory, listing->home, shard, take_file, taking);
	}
}

/* Of all shards; each one's is given up. */
static int put_together(struct listing *listing, struct inventory *ret_inventory)
{
	struct inventory all = {.records = NULL};
	size_t count = 0;
	int rc = 0;

	for (size_t i = 0; i < DIRECTORY_SHARDS; i++) {
		const struct taking *taking = &listing->shards[i];

		count += taking->inventory.count;
		all.failures += taking->error < 0;
		rc = taking->error == -ENOMEM || taking->error == -EINTR ? taking->error : rc;
	}
	if (rc == 0 && count > 0) {
		all.records = calloc(count, sizeof(*all.records));
		rc = all.records ? 0 : -ENOMEM;
	}
	for (size_t i = 0; i < DIRECTORY_SHARDS; i++) {
		struct inventory *part = &listing->shards[i].inventory;

		if (rc == 0 && part->count > 0) {
			memcpy(all.records + all.count, part->records, part->count * sizeof(*part->records));
			all.count += part->count;
		}
		inventory_free(part);
	}
	if (rc == 0) {
		*ret_inventory = all;
	}
	return rc;
}

static int list(const struct directory *directory, const struct inventory_beginning *beginning, struct chore *chore,
                struct inventory *ret_inventory)
{
	struct listing *listing = calloc(1, sizeof(*listing));
	int rc;

	if (!listing) {
		return -ENOMEM;
	}
	listing->directory = directory;
	listing->beginning = beginning;
	listing->chore = chore;
	rc = directory_open(directory, DIRECTORY_REACH, &listing->home);
	if (rc == 0) {
		chore_each(chore, DIRECTORY_SHARDS, take_shard, listing);
		close(listing->home);
	}
	if (rc == 0 || rc == -ENOENT) {
		rc = put_together(listing, ret_inventory);
	}
	free(listing);
	if (rc == 0 && ret_inventory->count > 0) {
		qsort(ret_inventory->records, ret_inventory->count, sizeof(*ret_inventory->records), compare);
	}
	return rc;
}

int inventory_find(const struct directory *directory, const struct inventory_beginning *beginning,
                   struct inventory *ret_inventory)
{
	return list(directory, beginning, NULL, ret_inventory);
}

int inventory_take(const struct directory *directory, struct chore *chore, struct inventory *ret_inventory)
{
	const struct inventory_beginning all = {.digits = 0};

	chore_begin(chore, CHORE_LOOKING, chore ? usage_guess(directory) : 0, CHORE_GUESSED);
	return list(directory, &all, chore, ret_inventory);
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

void inventory_reader_begin(const struct directory *directory, struct inventory_reader *ret_reader)
{
	struct rlimit limit;

	ret_reader->directory = directory;
	ret_reader->kept = 0;
	ret_reader->shards_max = 0;
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur > DESCRIPTORS) {
		limit.rlim_cur -= DESCRIPTORS;
		ret_reader->shards_max = limit.rlim_cur < DIRECTORY_SHARDS ? (int)limit.rlim_cur : DIRECTORY_SHARDS;
	}
	for (size_t i = 0; i < DIRECTORY_SHARDS; i++) {
		ret_reader->shards[i] = -1;
	}
	ret_reader->home = -1;
	ret_reader->error = directory_open(directory, DIRECTORY_REACH, &ret_reader->home);
}

void inventory_reader_end(struct inventory_reader *reader)
{
	for (size_t i = 0; i < DIRECTORY_SHARDS; i++) {
		if (reader->shards[i] >= 0) {
			close(reader->shards[i]);
		}
	}
	if (reader->home >= 0) {
		close(reader->home);
	}
}

enum keeping { KEPT_OPEN, OPEN_FOR_ONE };

static int reach_shard(struct inventory_reader *reader, unsigned shard, int *ret_place, enum keeping *ret_keeping)
{
	int none = -1;
	int place = atomic_load(&reader->shards[shard]);
	int rc;

	*ret_keeping = KEPT_OPEN;
	if (place < 0) {
		rc = reader->error < 0
		         ? reader->error
		         : directory_open_shard(reader->directory, reader->home, shard, DIRECTORY_REACH, &place);
		if (rc < 0) {
			return rc;
		}
		if (atomic_fetch_add(&reader->kept, 1) >= reader->shards_max ||
		    !atomic_compare_exchange_strong(&reader->shards[shard], &none, place)) {
			atomic_fetch_sub(&reader->kept, 1);
			*ret_keeping = OPEN_FOR_ONE;
		}
	}
	*ret_place = place;
	return 0;
}

int inventory_reader_read(struct inventory_reader *reader, const uint8_t key[ENTRY_KEY_BYTES], inventory_visit *visit,
                          void *context)
{
	struct source source = {.file = -1};
	char name[DIRECTORY_NAME_BYTES];
	struct stat found = {0};
	enum keeping keeping;
	int shard = -1;
	int rc = reach_shard(reader, key[0], &shard, &keeping);

	if (rc < 0) {
		return rc;
	}
	directory_entry_name(key, name);
	rc = source_open(reader->directory, shard, name, &found, &source);
	if (keeping == OPEN_FOR_ONE) {
		close(shard);
	}
	if (rc < 0) {
		return rc;
	}
	(void)fcntl(source.file, F_SETFL, O_NONBLOCK | O_NOATIME);
	rc = read_source(&source, key, visit, context);
	source_close(&source);
	return rc;
}

int inventory_read(const struct directory *directory, const uint8_t key[ENTRY_KEY_BYTES], inventory_visit *visit,
                   void *context)
{
	struct inventory_reader reader;
	int rc;

	inventory_reader_begin(directory, &reader);
	rc = inventory_reader_read(&reader, key, visit, context);
	inventory_reader_end(&reader);
	return rc;
}

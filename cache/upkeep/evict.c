/* SPDX-License-Identifier: MIT */
/*
 * evict: after a store
 *
 *   read sums --> sample the new file's shard, and shards without a sum --> total above the cap? --no--> done
 *                                                                                  |yes
 *        ,-------------------------------------------------------------------------'
 *   lock --> draw entries of more shards --> sort --> remove the first ones --> unlock
 *              ^                                          |
 *              `--- still above, and less was freed than stored
 */
#include "cache/upkeep/evict.h"

#include "cache/lock.h"
#include "cache/upkeep/sample.h"

#include <string.h>

#define SHARDS_MAX 16 /* that are not empty, in one round */
#define TRIES_MAX  16 /* removals that are tried in one round */
#define ENOUGH     16 /* entries; fewer are too few to choose from */

/* What one store does. */
struct work {
	const struct evict *evict;
	struct sample sample;
	unsigned first; /* the shard to begin with, besides that of the new file */
	int lock;
};

enum which { SHARDS_UNKNOWN, SHARDS_FILLED };

/*
 * Samples more shards until enough entries are drawn. SHARDS_FILLED: all but those known to be empty. At most `most`
 * shards are tried, because a new cache has few of them.
 */
static void sample_more(struct work *work, enum which which, unsigned most)
{
	struct sample *sample = &work->sample;

	for (unsigned i = 0, filled = 1; i < DIRECTORY_SHARDS && most > 0 && filled < SHARDS_MAX; i++) {
		const unsigned shard = (work->first + i) % DIRECTORY_SHARDS;
		const struct sums_shard *sum = &sample->sums.shards[shard];

		if (shard == work->evict->key[0] || (sum->known && (which == SHARDS_UNKNOWN || sum->files == 0))) {
			continue;
		}
		if (sample->count >= ENOUGH && sample->count + sum->files > SAMPLE_FILES) {
			break;
		}
		(void)sample_shard(sample, shard);
		filled += sum->files > 0;
		most--;
	}
}

/* Draws entries, and removes the first in the order until `wanted` bytes are free. */
static void make_room(struct work *work, uint64_t wanted)
{
	struct sample *sample = &work->sample;
	const struct sample_removed before = sample->removed;

	sample_more(work, SHARDS_FILLED, DIRECTORY_SHARDS);
	sample_sort(sample);
	for (size_t i = 0; i < sample->count && i < TRIES_MAX; i++) {
		if (sample->removed.entries - before.entries >= EVICT_REMOVALS ||
		    sample->removed.bytes - before.bytes >= wanted) {
			break;
		}
		if (memcmp(sample->files[i].key, work->evict->key, ENTRY_KEY_BYTES) != 0) {
			sample_remove(sample, &sample->files[i]);
		}
	}
}

/* Returns how many bytes are to be removed: down to a 64th below the cap, so that not every store has to evict. */
static uint64_t excess(const struct work *work)
{
	const uint64_t cap = work->evict->max_size;
	const uint64_t bytes = sums_total(&work->sample.sums).bytes;
	const uint64_t slack = cap / 64 > work->evict->bytes ? cap / 64 : 0;

	return cap != 0 && bytes > cap ? bytes - cap + slack : 0;
}

/* Returns how many bytes have to be removed until the new file has room, and two inodes: for it and for its shard. */
static uint64_t shortage(const struct work *work)
{
	const struct sample_removed *removed = &work->sample.removed;

	if (removed->bytes < work->evict->bytes) {
		return work->evict->bytes - removed->bytes;
	}
	return removed->entries < 2;
}

/* Another process may have evicted since the sums were read, so they are read again under the lock. */
static void evict_in_rounds(struct work *work, uint64_t (*bytes_wanted)(const struct work *work))
{
	const struct evict *evict = work->evict;

	if (lock_take(evict->directory, evict->home, LOCK_EVICTION, 0, &work->lock) < 0) {
		return;
	}
	sums_read(&work->sample.sums);
	for (unsigned round = 0; round < EVICT_ROUNDS && bytes_wanted(work) > 0; round++) {
		if (round > 0 && shortage(work) == 0) {
			break;
		}
		make_room(work, bytes_wanted(work));
		work->sample.count = 0;
		work->first += 37; /* other shards; no common factor with 256, so each of them takes its turn */
	}
}

static void begin_work(const struct evict *evict, struct work *ret_work)
{
	*ret_work = (struct work){
	    .evict = evict,
	    .sample = {.directory = evict->directory,
	               .home = evict->home,
	               .now = evict->now,
	               .cap = evict->max_size,
	               .most = SAMPLE_FILES},
	    .lock = -1,
	};
	sample_begin(&ret_work->sample);
	ret_work->first = (unsigned)(ret_work->sample.random % DIRECTORY_SHARDS);
	(void)sample_shard(&ret_work->sample, evict->key[0]);
}

/* The lock is held until the sums are written. */
static uint64_t end_work(struct work *work)
{
	sample_end(&work->sample);
	lock_release(work->lock);
	return work->sample.removed.entries;
}

uint64_t evict_after_store(const struct evict *evict)
{
	struct work work;

	begin_work(evict, &work);
	sample_more(&work, SHARDS_UNKNOWN, SHARDS_MAX);
	if (excess(&work) > 0) {
		evict_in_rounds(&work, excess);
	}
	return end_work(&work);
}

uint64_t evict_for_room(const struct evict *evict)
{
	struct work work;

	begin_work(evict, &work);
	evict_in_rounds(&work, shortage);
	return end_work(&work);
}

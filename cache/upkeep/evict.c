/* SPDX-License-Identifier: MIT */
/*
 * evict: after a store
 *
 *   read sums --> sample the new file's shard, and shards without a sum --> total above the cap? --no--> done
 *                                                                                  |yes
 *        ,-------------------------------------------------------------------------'
 *   lock --> draw entries of more shards --> sort --> remove the first ones --> write sums --> unlock
 *              ^                                          |
 *              `--- still above, and less was freed than stored
 */
#include "cache/upkeep/evict.h"

#include "cache/lock.h"

#include <string.h>

#define SHARDS_MAX 16 /* that are not empty, in one round */
#define TRIES_MAX  16 /* removals that are tried in one round */
#define ENOUGH     16 /* entries; fewer are too few to choose from */
#define NAMES_EACH 64

/* What one store does. */
struct work {
	const struct sample_task *task;
	enum evict_reason reason;
	struct sample sample;
	unsigned first; /* the shard to begin with, besides that of the new file */
};

enum purpose {
	LEARN_SUMS,  /* shards without a sum, so that all sums are known after some stores */
	DRAW_ENTRIES /* shards that are not known to be empty, besides that of the new file, until enough are drawn */
};

static bool is_of_use(const struct work *work, enum purpose purpose, unsigned shard)
{
	const struct sums_shard *sum = &work->sample.sums.shards[shard];

	if (purpose == LEARN_SUMS) {
		return !sum->known;
	}
	/* an entry without bytes was listed, and then not found */
	return shard != work->task->key[0] && !(sum->known && sum->bytes == 0 && sum->files == 0);
}

static void sample_shards(struct work *work, enum purpose purpose)
{
	struct sample *sample = &work->sample;
	/* entries of the new file's shard are drawn already */
	unsigned done = purpose == DRAW_ENTRIES ? 1 : 0;

	for (unsigned i = 0; i < DIRECTORY_SHARDS && done < SHARDS_MAX; i++) {
		const unsigned shard = (work->first + i) % DIRECTORY_SHARDS;
		const struct sums_shard *sum = &sample->sums.shards[shard];

		if (!is_of_use(work, purpose, shard)) {
			continue;
		}
		if (done > 0 && (purpose == LEARN_SUMS || sample->count >= ENOUGH) &&
		    sample->count + sample_expects(sample, shard) > SAMPLE_FILES) {
			break;
		}
		(void)sample_shard(sample, shard);
		done += purpose == LEARN_SUMS || sum->files > 0;
	}
}

/* Removes the first entries in the order until `wanted` bytes are free. */
static void remove_first(struct work *work, uint64_t wanted)
{
	struct sample *sample = &work->sample;
	const struct sample_removed before = sample->removed;

	sample_sort(sample);
	for (size_t i = 0; i < sample->count && i < TRIES_MAX; i++) {
		if (sample->removed.entries - before.entries >= EVICT_REMOVALS ||
		    sample->removed.bytes - before.bytes >= wanted) {
			break;
		}
		if (memcmp(sample->files[i].key, work->task->key, ENTRY_KEY_BYTES) != 0) {
			sample_remove(sample, &sample->files[i]);
		}
	}
}

/* Without a file of sums, the shards that were sampled stand for all. The new file is in one of them for sure. */
static uint64_t total_bytes(const struct work *work)
{
	const struct sums_shard total = sums_total(&work->sample.sums);
	const uint64_t added = work->task->bytes;

	if (work->sample.sums.file >= 0 || total.known == 0 || total.bytes < added) {
		return total.bytes;
	}
	return added + (total.bytes - added) / total.known * DIRECTORY_SHARDS;
}

/*
 * Returns how many bytes are to be removed: down to a 64th below the cap, so that not every store has to evict; just
 * below the cap for a file that is larger than that.
 */
static uint64_t excess(const struct work *work)
{
	const uint64_t cap = work->task->cap;
	const uint64_t bytes = total_bytes(work);
	const uint64_t slack = cap / 64 > work->task->bytes ? cap / 64 : 0;

	return cap != 0 && bytes > cap ? bytes - cap + slack : 0;
}

/*
 * Returns how many bytes have to be removed until the new file should have room. Whether it has is known only after the
 * next attempt to write: quotas count by their own rules, and inodes may be missing.
 */
static uint64_t shortage(const struct work *work)
{
	const uint64_t removed = work->sample.removed.bytes;

	return removed < work->task->bytes ? work->task->bytes - removed : 0;
}

/* Returns how many bytes are to be removed now. */
static uint64_t bytes_wanted(const struct work *work)
{
	return work->reason == EVICT_FOR_ROOM ? shortage(work) : excess(work);
}

/*
 * Many processes that store while one evicts would fill the directory without bound, so above a tenth over the cap each
 * waits for its turn, and then removes as much as it has stored. Another process may have evicted since the sums were
 * read, so they are read again under the lock, which is held until the sums are written.
 */
static void evict_in_rounds(struct work *work)
{
	const struct sample_task *task = work->task;
	const bool waits = work->reason == EVICT_FOR_ROOM || total_bytes(work) > task->cap + task->cap / 10;
	int lock;

	if (lock_take(task->directory, task->home, LOCK_EVICTION, waits ? LOCK_WAIT_US : 0, &lock) < 0) {
		return;
	}
	if (work->sample.sums.file >= 0) {
		sums_flush(&work->sample.sums);
		sums_read(&work->sample.sums);
	}
	for (unsigned round = 0; round < EVICT_ROUNDS && bytes_wanted(work) > 0; round++) {
		if (round > 0 && shortage(work) == 0) {
			break;
		}
		sample_shards(work, DRAW_ENTRIES);
		remove_first(work, bytes_wanted(work));
		sample_settle(&work->sample);
		work->first += 37; /* other shards; no common factor with 256, so each of them takes its turn */
	}
	lock_release(lock);
}

/* Reading thousands of names takes milliseconds, so not every store in a large shard does it; the others add. */
static bool is_due(const struct work *work)
{
	const struct sums_shard *sum = &work->sample.sums.shards[work->task->key[0]];

	return !sum->known || work->sample.random / DIRECTORY_SHARDS % (sum->files / NAMES_EACH + 1) == 0;
}

struct sample_removed evict_entries(const struct sample_task *task, enum evict_reason reason)
{
	struct work work = {.task = task, .reason = reason};

	sample_begin(&work.sample, task, SAMPLE_FILES, SAMPLE_FACTS_NS);
	work.first = (unsigned)(work.sample.random % DIRECTORY_SHARDS);
	if (reason == EVICT_FOR_ROOM || is_due(&work) || excess(&work) > 0) {
		(void)sample_shard(&work.sample, task->key[0]);
		if (reason == EVICT_AFTER_STORE) {
			sample_shards(&work, LEARN_SUMS);
		}
	} else {
		sums_add(&work.sample.sums, task->key[0], task->bytes);
	}
	if (reason == EVICT_FOR_ROOM || excess(&work) > 0) {
		evict_in_rounds(&work);
	}
	sample_end(&work.sample);
	return work.sample.removed;
}

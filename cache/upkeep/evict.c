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

#define SHARDS_MAX 15 /* in one round, besides that of the new file */
#define TRIES_MAX  16 /* removals that are tried in one round */
#define ENOUGH     16 /* entries; fewer are too few to choose from */

enum purpose {
	LEARN_SUMS,  /* shards without a sum, so that all sums are known after some stores */
	DRAW_ENTRIES /* shards that are not known to be empty, besides that of the new file, until enough are drawn */
};

/* Each round begins with another shard; 37 has no common factor with 256, so each of them takes its turn. */
static void sample_shards(struct sample *sample, enum purpose purpose, unsigned round)
{
	for (unsigned i = 0, done = 0; i < DIRECTORY_SHARDS && done < SHARDS_MAX; i++) {
		const unsigned shard = (unsigned)((sample->random + 37 * round + i) % DIRECTORY_SHARDS);
		const struct sums_shard *sum = &sample->sums.shards[shard];
		/* an entry without bytes was listed, and then not found */
		const bool is_empty = sum->known && sum->bytes == 0 && sum->files == 0;
		const bool is_enough = purpose == LEARN_SUMS ? done > 0 : sample->count >= ENOUGH;

		if (purpose == LEARN_SUMS ? sum->known : is_empty || shard == sample->task->key[0]) {
			continue;
		}
		if (is_enough && sample->count + sample_expects(sample, shard) > SAMPLE_FILES) {
			break;
		}
		(void)sample_shard(sample, shard);
		done += purpose == LEARN_SUMS || sum->files > 0;
	}
}

/* Removes the first entries in the order until `wanted` bytes are free. */
static void remove_first(struct sample *sample, uint64_t wanted)
{
	const struct sample_removed before = sample->removed;

	sample_sort(sample);
	for (size_t i = 0; i < sample->count && i < TRIES_MAX; i++) {
		if (sample->removed.entries - before.entries >= EVICT_REMOVALS ||
		    sample->removed.bytes - before.bytes >= wanted) {
			break;
		}
		if (memcmp(sample->files[i].key, sample->task->key, ENTRY_KEY_BYTES) != 0) {
			sample_remove(sample, &sample->files[i]);
		}
	}
}

/* Without a file of sums, the shards that were sampled stand for all. The new file is in one of them for sure. */
static uint64_t total_bytes(const struct sample *sample)
{
	const struct sums_shard total = sums_total(&sample->sums);
	const uint64_t added = sample->task->bytes;

	if (sample->sums.file >= 0 || total.known == 0 || total.bytes < added) {
		return total.bytes;
	}
	return added + (total.bytes - added) / total.known * DIRECTORY_SHARDS;
}

/*
 * Returns how many bytes are to be removed: down to a 64th below the cap, so that not every store has to evict; just
 * below the cap for a file that is larger than that.
 */
static uint64_t excess(const struct sample *sample)
{
	const uint64_t cap = sample->task->cap;
	const uint64_t bytes = total_bytes(sample);
	const uint64_t slack = cap / 64 > sample->task->bytes ? cap / 64 : 0;

	return cap != 0 && bytes > cap ? bytes - cap + slack : 0;
}

/*
 * Returns how many bytes have to be removed until the new file should have room. Whether it has is known only after the
 * next attempt to write: quotas count by their own rules, and inodes may be missing.
 */
static uint64_t shortage(const struct sample *sample)
{
	const uint64_t removed = sample->removed.bytes;

	return removed < sample->task->bytes ? sample->task->bytes - removed : 0;
}

/* Returns how many bytes are to be removed now. */
static uint64_t bytes_wanted(const struct sample *sample, enum evict_reason reason)
{
	return reason == EVICT_FOR_ROOM ? shortage(sample) : excess(sample);
}

/*
 * Many processes that store while one evicts would fill the directory without bound, so above a tenth over the cap each
 * waits for its turn, and then removes as much as it has stored. Another process may have evicted since the sums were
 * read, so they are read again under the lock, which is held until the sums are written.
 */
static void evict_in_rounds(struct sample *sample, enum evict_reason reason)
{
	const struct sample_task *task = sample->task;
	const bool waits = reason == EVICT_FOR_ROOM || total_bytes(sample) > task->cap + task->cap / 10;
	int lock;

	if (lock_take(task->directory, task->home, NULL, waits ? LOCK_WAIT_US : 0, &lock) < 0) {
		return;
	}
	if (sample->sums.file >= 0) {
		sums_flush(&sample->sums);
		sums_read(&sample->sums);
	}
	for (unsigned round = 0; round < EVICT_ROUNDS && bytes_wanted(sample, reason) > 0; round++) {
		if (round > 0 && shortage(sample) == 0) {
			break;
		}
		sample_shards(sample, DRAW_ENTRIES, round);
		remove_first(sample, bytes_wanted(sample, reason));
		sample_settle(sample);
	}
	lock_release(lock);
}

struct sample_removed evict_entries(const struct sample_task *task, enum evict_reason reason)
{
	struct sample sample = {.dry = false};

	sample_begin(&sample, task, SAMPLE_FILES);
	(void)sample_shard(&sample, task->key[0]);
	if (reason == EVICT_AFTER_STORE) {
		sample_shards(&sample, LEARN_SUMS, 0);
	}
	if (reason == EVICT_FOR_ROOM || excess(&sample) > 0) {
		evict_in_rounds(&sample, reason);
	}
	sample_end(&sample);
	return sample.removed;
}

/* SPDX-License-Identifier: MIT */
#include "cache/tools/prune.h"

#include "cache/store_state.h"
#include "cache/tools/chore.h"
#include "cache/upkeep/sample.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

struct work {
	struct chore *chore;
	struct sample_task task;
	struct sample sample;
};

enum dryness { NOT_DRY, DRY };

/* -ENOENT: the directory does not exist. It is not created. */
static int begin_work(const struct store *store, enum dryness dryness, int64_t unused_ns, struct work *ret_work)
{
	int rc;

	*ret_work = (struct work){
	    .chore = store->options.chore,
	    .task = {.directory = &store->directory, .cap = store->options.max_size, .now = store->options.clock()},
	    .sample.dry = dryness == DRY,
	};
	if (!store->directory.path || (store->options.read_only && dryness != DRY)) {
		return store->directory.path ? -EROFS : -ENXIO;
	}
	rc = directory_open(&store->directory, DIRECTORY_REACH, &ret_work->task.home);
	if (rc == 0) {
		sample_begin(&ret_work->sample, &ret_work->task, UINT32_MAX, unused_ns);
	}
	return rc;
}

static void close_work(struct work *work)
{
	sample_end(&work->sample);
	close(work->task.home);
}

static void end_work(struct work *work, struct store_pruned *ret_pruned)
{
	struct sample *sample = &work->sample;
	const struct sums_shard left = sums_total(&sample->sums);

	*ret_pruned = (struct store_pruned){
	    .removed = {.entries = sample->removed.entries,
	                .bytes = sample->removed.bytes,
	                .temporaries = sample->removed.temporaries},
	    .left = {.entries = left.files, .bytes = left.bytes},
	    .foreign = sample->foreign,
	    .failures = sample->failures,
	};
	close_work(work);
}

int store_usage(struct store *store, struct store_usage *ret_usage)
{
	struct work work;
	struct sample *sample = &work.sample;
	int rc = begin_work(store, DRY, INT64_MAX, &work);

	if (rc < 0) {
		*ret_usage = rc == -ENOENT ? (struct store_usage){.entries = 0} : *ret_usage;
		return rc == -ENOENT ? 0 : rc;
	}
	work.task.cap = 0;
	memset(sample->sums.shards, 0, sizeof(sample->sums.shards)); /* a shard that is not read has none */
	chore_begin(work.chore, "counting");
	for (unsigned shard = 0; shard < DIRECTORY_SHARDS && rc != -EINTR; shard++) {
		/* -EPERM: the shard is not trusted, so no look-up reads it */
		int sampled = chore_stopped(work.chore) ? -EINTR : sample_shard(sample, shard);

		rc = rc < 0 || sampled == -EPERM ? rc : sampled;
		chore_advance(work.chore, sample->count, shard + 1, DIRECTORY_SHARDS);
		sample->count = 0;
	}
	if (rc == 0) {
		const struct sums_shard total = sums_total(&sample->sums);

		/* stale temporary files are counted as removed */
		*ret_usage =
		    (struct store_usage){total.files, total.bytes + sample->removed.bytes, sample->temporaries};
	}
	close_work(&work);
	return rc;
}

int store_usage_about(struct store *store, struct store_usage *ret_usage)
{
	struct sums sums = {.file = -1};
	struct sums_shard total;
	int home = -1;

	if (store->directory.path && directory_open(&store->directory, DIRECTORY_REACH, &home) == 0) {
		sums_open(&store->directory, home, SUMS_READ, &sums);
		sums_close(&sums);
		close(home);
	}
	total = sums_total(&sums);
	if (total.known < DIRECTORY_SHARDS) {
		return store_usage(store, ret_usage);
	}
	*ret_usage = (struct store_usage){.entries = total.files, .bytes = total.bytes};
	return 0;
}

/* A shard that cannot be read keeps its sum. */
static int examine_all(struct work *work)
{
	for (unsigned shard = 0; shard < DIRECTORY_SHARDS; shard++) {
		const size_t before = work->sample.count;

		if (chore_stopped(work->chore)) {
			return -EINTR;
		}
		if (sample_shard(&work->sample, shard) == -ENOMEM) {
			return -ENOMEM;
		}
		chore_advance(work->chore, work->sample.count - before, shard + 1, DIRECTORY_SHARDS);
	}
	return 0;
}

/*
 * A sum that has changed since `examined` is of a shard in which others stored meanwhile. What is known of that shard
 * is old, so it is examined again.
 */
static void examine_changed(struct work *work, const struct sums *examined)
{
	struct sums now = *examined;

	sums_read(&now);
	for (unsigned shard = 0; now.file >= 0 && shard < DIRECTORY_SHARDS; shard++) {
		if (memcmp(&now.shards[shard], &examined->shards[shard], sizeof(now.shards[shard])) != 0) {
			(void)sample_shard(&work->sample, shard);
		}
	}
}

static int remove_one(struct work *work, const struct sample_file *file)
{
	if (chore_stopped(work->chore)) {
		return -EINTR;
	}
	sample_remove(&work->sample, file);
	chore_advance(work->chore, 1, 1, 0);
	return 0;
}

/* Removes the files last used before `used_before`, and moves the others to the front. */
static int remove_old(struct work *work, int64_t used_before)
{
	struct sample *sample = &work->sample;
	size_t left = 0;
	int rc = 0;

	for (size_t i = 0; i < sample->count; i++) {
		if (rc == 0 && sample->files[i].used < used_before) {
			rc = remove_one(work, &sample->files[i]);
		} else {
			sample->files[left++] = sample->files[i];
		}
	}
	sample->count = left;
	return rc;
}

/* The total is that of all shards as they were examined, so the result is exact unless others store meanwhile. */
static int remove_excess(struct work *work)
{
	struct sample *sample = &work->sample;
	int rc = 0;

	sample_sort(sample);
	for (size_t i = 0; i < sample->count && rc == 0 && sums_total(&sample->sums).bytes > sample->task->cap; i++) {
		rc = remove_one(work, &sample->files[i]);
	}
	return rc;
}

/* `wanted` NULL: all keys. */
static int empty_shard(struct work *work, unsigned shard, store_wanted *wanted, void *context)
{
	int rc;

	rc = chore_stopped(work->chore) ? -EINTR : sample_shard(&work->sample, shard);
	if (rc == -EINTR || rc == -ENOMEM) {
		return rc;
	}
	for (size_t i = 0; i < work->sample.count; i++) {
		if (chore_stopped(work->chore)) {
			return -EINTR;
		}
		if (!wanted || wanted(context, work->sample.files[i].key)) {
			sample_remove(&work->sample, &work->sample.files[i]);
		}
	}
	return rc;
}

/* Old files go before excess ones: what was not used for so long is the least recently used anyway. */
static int prune(struct store *store, enum dryness dryness, int64_t unused_ns, struct store_pruned *ret_pruned)
{
	struct work work;
	struct sums examined;
	int rc = begin_work(store, dryness, unused_ns, &work);

	*ret_pruned = (struct store_pruned){.foreign = 0};
	if (rc < 0) {
		return rc == -ENOENT ? 0 : rc;
	}
	chore_begin(work.chore, "looking");
	rc = examine_all(&work);
	sums_flush(&work.sample.sums);
	examined = work.sample.sums;
	chore_begin(work.chore, "pruning");
	if (rc == 0 && unused_ns < work.task.now) {
		rc = remove_old(&work, work.task.now - unused_ns);
	}
	if (rc == 0 && store->options.max_size != 0) {
		rc = remove_excess(&work);
	}
	if (dryness != DRY) {
		examine_changed(&work, &examined);
	}
	end_work(&work, ret_pruned);
	return rc;
}

int store_prune(struct store *store, int64_t unused_ns, struct store_pruned *ret_pruned)
{
	return prune(store, NOT_DRY, unused_ns, ret_pruned);
}

int store_prune_dry(struct store *store, int64_t unused_ns, struct store_pruned *ret_pruned)
{
	return prune(store, DRY, unused_ns, ret_pruned);
}

/* Shard by shard, so that a million names are never in memory. An error of one shard does not stop the others. */
int store_clear_wanted(struct store *store, store_wanted *wanted, void *context, struct store_pruned *ret_pruned)
{
	struct work work;
	int rc = begin_work(store, NOT_DRY, INT64_MAX, &work);

	*ret_pruned = (struct store_pruned){.foreign = 0};
	if (rc < 0) {
		return rc == -ENOENT ? 0 : rc;
	}
	work.sample.clears = wanted == NULL;
	chore_begin(work.chore, "clearing");
	for (unsigned shard = 0; shard < DIRECTORY_SHARDS && rc != -EINTR; shard++) {
		int emptied = empty_shard(&work, shard, wanted, context);

		rc = rc < 0 ? rc : emptied;
		chore_advance(work.chore, work.sample.count, shard + 1, DIRECTORY_SHARDS);
		/* now and not at the end, because others store in this shard while the next ones are emptied */
		sample_settle(&work.sample);
	}
	end_work(&work, ret_pruned);
	return rc;
}

int store_clear(struct store *store, struct store_pruned *ret_pruned)
{
	return store_clear_wanted(store, NULL, NULL, ret_pruned);
}

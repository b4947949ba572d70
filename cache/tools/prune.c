/* SPDX-License-Identifier: MIT */
#include "cache/tools/prune.h"

#include "cache/calls.h"
#include "cache/recency.h"
#include "cache/upkeep/sample.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

struct work {
	store_progress *progress;
	struct sample_task task;
	struct sample sample;
};

/* -ENOENT: the directory does not exist. It is not created. */
static int begin_work(const struct store *store, const struct store_removal *removal, struct work *ret_work)
{
	int rc;

	*ret_work = (struct work){
	    .progress = store->progress,
	    .task = {.directory = &store->directory, .cap = store->max_size, .now = store_now(store)},
	    .sample = {.dry = removal->dry, .clears = removal->all && !removal->wanted},
	};
	if (!store->directory.path || (store->read_only && !removal->dry)) {
		return store->directory.path ? -EROFS : -ENXIO;
	}
	rc = directory_open(&store->directory, DIRECTORY_REACH, &ret_work->task.home);
	if (rc == 0) {
		sample_begin(&ret_work->sample, &ret_work->task, UINT32_MAX);
	}
	return rc;
}

static void end_work(struct work *work, struct store_pruned *ret_pruned)
{
	struct sample *sample = &work->sample;
	const struct sums_shard left = sums_total(&sample->sums);

	*ret_pruned = (struct store_pruned){
	    .removed = {sample->removed.entries, sample->removed.bytes},
	    .left = {left.files, left.bytes},
	    .failures = sample->failures,
	};
	sample_end(sample);
	close(work->task.home);
}

static bool is_stopped(const struct work *work, const char *doing, uint64_t done, uint64_t whole)
{
	return work->progress && work->progress(doing, done, whole);
}

/* Adds the entries of all shards to the sample. The first error of a shard is returned when all others were read. */
static int examine_all(struct work *work)
{
	int rc = 0;

	for (unsigned shard = 0; shard < DIRECTORY_SHARDS && rc != -EINTR && rc != -ENOMEM; shard++) {
		const size_t *count = &work->sample.count;
		int sampled = sample_shard(&work->sample, shard);

		if (sampled < 0) { /* a shard that is not read has no entries */
			work->sample.sums.shards[shard] = (struct sums_shard){.files = 0};
		}
		/* keys are digests, so all shards have about the same number of files */
		sampled =
		    is_stopped(work, "looking", *count, *count * DIRECTORY_SHARDS / (shard + 1)) ? -EINTR : sampled;
		/* -EPERM says the least: the shard is not trusted, so no look-up reads it */
		rc = sampled < 0 && (rc == 0 || rc == -EPERM || sampled == -EINTR) ? sampled : rc;
	}
	return rc;
}

static int remove_one(struct work *work, const struct sample_file *file)
{
	if (is_stopped(work, "removing", work->sample.removed.entries, 0)) {
		return -EINTR;
	}
	sample_remove(&work->sample, file);
	return 0;
}

/* Removes what is to go whatever room there is, and moves the other files to the front. */
static int remove_some(struct work *work, const struct store_removal *removal)
{
	struct sample *sample = &work->sample;
	size_t left = 0;
	int rc = 0;

	for (size_t i = 0; i < sample->count; i++) {
		const struct sample_file *file = &sample->files[i];
		bool goes = removal->all
		                ? !removal->wanted || removal->wanted(removal->context, file->key)
		                : recency_past(file->used, work->task.now) < work->task.now - removal->unused_ns;

		if (rc == 0 && goes) {
			rc = remove_one(work, file);
		} else {
			sample->files[left++] = *file;
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

/* Old files go before excess ones: what was not used for so long is the least recently used anyway. */
int store_remove(const struct store *store, const struct store_removal *removal, struct store_pruned *ret_pruned)
{
	struct work work;
	int found, rc = begin_work(store, removal, &work);

	*ret_pruned = (struct store_pruned){.failures = 0};
	if (rc < 0) {
		return rc == -ENOENT ? 0 : rc;
	}
	found = examine_all(&work);
	sums_flush(&work.sample.sums); /* before the removals, which take time: others store meanwhile */
	if (found != -EINTR && found != -ENOMEM) {
		rc = remove_some(&work, removal);
	}
	if (rc == 0 && !removal->all && store->max_size != 0) {
		rc = remove_excess(&work);
	}
	end_work(&work, ret_pruned);
	return found < 0 ? found : rc;
}

/* What would be removed is there now. */
int store_usage(const struct store *store, struct store_usage *ret_usage)
{
	struct store_pruned found;
	int rc = store_remove(store, &(struct store_removal){.dry = true, .unused_ns = INT64_MAX}, &found);

	*ret_usage =
	    (struct store_usage){found.left.entries + found.removed.entries, found.left.bytes + found.removed.bytes};
	return rc == -EPERM ? 0 : rc;
}

int store_usage_about(const struct store *store, struct store_usage *ret_usage)
{
	struct sums sums = {.file = -1};
	struct sums_shard total;
	int home = -1;

	if (store->directory.path && directory_open(&store->directory, DIRECTORY_REACH, &home) == 0) {
		sums_open(&store->directory, home, SUMS_READ, &sums);
		call_close(sums.file);
		close(home);
	}
	total = sums_total(&sums);
	if (total.known < DIRECTORY_SHARDS) {
		return store_usage(store, ret_usage);
	}
	*ret_usage = (struct store_usage){.entries = total.files, .bytes = total.bytes};
	return 0;
}

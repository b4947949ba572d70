/* SPDX-License-Identifier: MIT */
/*
 * One pass over the names of a shard. If more than `most` entries are expected in it, every n-th key is drawn: keys are
 * digests, so these are as old and as large as the others. Taking the first names instead would prefer some ages,
 * because file systems return names in an order of their own (tmpfs: the newest first).
 */
#include "cache/upkeep/sample.h"

#include "cache/calls.h"
#include "cache/recency.h"
#include "cache/source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A file that claims to be larger (a forged sparse one) counts as that large, so that no sum can overflow. */
#define FILE_BYTES_MAX (UINT64_C(1) << 40)
#define FACTS_NS       (30 * INT64_C(86400000000000)) /* facts that were not read for so long are removed */

/* The sample of one shard. */
struct drawing {
	struct sample *sample;
	uint32_t step; /* one in `step` keys is drawn: those that leave the remainder `pick` */
	uint32_t pick;
	uint32_t entries;
	uint32_t drawn;
	uint64_t drawn_bytes;
	uint64_t temporary_bytes;
};

uint64_t sample_bytes_of(const struct stat *found)
{
	const uint64_t size = (uint64_t)found->st_size;
	uint64_t bytes = (uint64_t)found->st_blocks * 512;

	bytes = bytes > size ? bytes : size;
	return bytes < FILE_BYTES_MAX ? bytes : FILE_BYTES_MAX;
}

void sample_begin(struct sample *sample, const struct sample_task *task, uint32_t most)
{
	sample->task = task;
	sample->most = most;
	sample->random = (uint64_t)task->now * UINT64_C(0x9e3779b97f4a7c15) >> 32;
	sums_open(task->directory, task->home, sample->dry ? SUMS_READ : SUMS_WRITE, &sample->sums);
}

void sample_settle(struct sample *sample)
{
	sums_flush(&sample->sums);
	sample->count = 0;
}

void sample_end(struct sample *sample)
{
	sample_settle(sample);
	call_close(sample->sums.file);
	free(sample->files);
}

static bool is_gone(int error)
{
	return error == ENOENT || error == ESTALE; /* a network file system: removed by another node */
}

/* Removes a file of ours. Returns whether it stays and counts. */
static bool sweep_file(struct sample *sample, const struct directory_file *file, const struct stat *found)
{
	struct stat seen;

	if (source_look(sample->task->directory, file->shard, file->name, &seen) <= 0) {
		return false;
	}
	if (!sample->dry && unlinkat(file->shard, file->name, 0) < 0) {
		sample->failures += !is_gone(errno);
		return !is_gone(errno);
	}
	sample->removed.bytes += sample_bytes_of(found);
	return false;
}

/* Returns the next free record, or NULL if there is no memory. */
static struct sample_file *add_record(struct sample *sample)
{
	if (sample->count == sample->room) {
		size_t room = sample->room ? sample->room * 2 : SAMPLE_FILES;
		void *grown = realloc(sample->files, room * sizeof(*sample->files));

		if (!grown) {
			return NULL;
		}
		sample->files = grown;
		sample->room = room;
	}
	return &sample->files[sample->count++];
}

static int draw_entry(struct drawing *drawing, const struct directory_file *file, const struct stat *found)
{
	struct sample *sample = drawing->sample;
	struct sample_file *drawn = add_record(sample);

	if (!drawn) {
		return -ENOMEM;
	}
	memcpy(drawn->key, file->key, ENTRY_KEY_BYTES);
	drawn->used = recency_of(found);
	drawn->order = recency_order(found, sample->task->now);
	drawn->bytes = sample_bytes_of(found);
	if ((uint64_t)found->st_size > entry_size_limit(sample->task->cap)) {
		drawn->order -= RECENCY_FIRST;
	}
	drawing->drawn++;
	drawing->drawn_bytes += drawn->bytes;
	return 0;
}

static bool is_picked(const struct drawing *drawing, const uint8_t key[ENTRY_KEY_BYTES])
{
	uint32_t number;

	memcpy(&number, key + 8, sizeof(number));
	return drawing->drawn < drawing->sample->most && number % drawing->step == drawing->pick;
}

static bool has_entry(const struct directory_file *file)
{
	char name[DIRECTORY_NAME_BYTES];
	struct stat entry;

	directory_name(file->key, DIRECTORY_ENTRY, name);
	return fstatat(file->shard, name, &entry, AT_SYMLINK_NOFOLLOW) == 0 || errno != ENOENT;
}

/*
 * Returns whether a file that is no entry stays and counts. Facts go before any entry. A request goes with its entry;
 * one without goes if the cache is full or is to be empty. A temporary file goes after an hour: each write makes it
 * younger, so a slow writer does not lose it, unless the file server's clock is more than an hour ahead.
 */
static bool keep_file(struct sample *sample, const struct directory_file *file, const struct stat *found)
{
	const bool full = sample->task->cap != 0 && sums_total(&sample->sums).bytes > sample->task->cap;
	const uint8_t *key = sample->task->key;
	const bool spared = key && memcmp(key, file->key, ENTRY_KEY_BYTES) == 0;
	const int64_t age = sample->task->now - recency_past(recency_of(found), sample->task->now);
	bool keep;

	if (file->kind == DIRECTORY_FACTS) {
		keep = !sample->clears && age < FACTS_NS && (spared || !full);
	} else if (file->kind == DIRECTORY_BESIDE) {
		keep = (!sample->clears && !full) || has_entry(file);
	} else {
		keep = age < RECENCY_PERIOD_NS;
	}
	return keep || sweep_file(sample, file, found);
}

/* Temporary files are all examined, because one that was left behind may be as large as the largest entry. */
static int visit_file(void *context, const struct directory_file *file)
{
	struct drawing *drawing = context;
	struct sample *sample = drawing->sample;
	struct stat found;

	drawing->entries += file->kind == DIRECTORY_ENTRY;
	sample->has_requests |= file->kind == DIRECTORY_BESIDE;
	if (file->kind == DIRECTORY_FOREIGN || (file->kind == DIRECTORY_ENTRY && !is_picked(drawing, file->key))) {
		return 0;
	}
	if (fstatat(file->shard, file->name, &found, AT_SYMLINK_NOFOLLOW) < 0) {
		return is_gone(errno) ? 0 : -errno;
	}
	if (S_ISREG(found.st_mode) && file->kind == DIRECTORY_ENTRY) {
		return draw_entry(drawing, file, &found);
	}
	if (S_ISREG(found.st_mode) && keep_file(sample, file, &found)) {
		drawing->temporary_bytes += sample_bytes_of(&found);
	}
	return 0;
}

/* Keys are digests, so an unknown shard has about as many entries as the others. */
uint32_t sample_expects(const struct sample *sample, unsigned shard)
{
	const struct sums_shard *sum = &sample->sums.shards[shard];
	const struct sums_shard total = sums_total(&sample->sums);

	return sum->known || total.known == 0 ? sum->files : total.files / total.known;
}

/*
 * Fewer than `most` names are expected to be drawn, so that all names have the same chance; if the sum is far too
 * small, the last ones have none. A shard that cannot be read becomes known too, or every store would try to read it
 * again.
 */
int sample_shard(struct sample *sample, unsigned shard)
{
	const uint32_t most = sample->most, expected = sample_expects(sample, shard);
	const uint32_t step = expected > most ? expected / (most - most / 4) + 1 : 1;
	struct drawing drawing = {.sample = sample, .step = step, .pick = (uint32_t)(sample->random % step)};
	struct sums_shard *sum = &sample->sums.shards[shard];
	const struct sums_shard before = *sum;
	int rc = directory_walk_shard(sample->task->directory, sample->task->home, shard, visit_file, &drawing);

	if (rc == 0) {
		sum->files = drawing.entries;
		sum->bytes = drawing.temporary_bytes + drawing.drawn_bytes;
		if (drawing.drawn > 0) { /* the others are as large as those that were drawn */
			sum->bytes += drawing.drawn_bytes / drawing.drawn * (drawing.entries - drawing.drawn);
		}
	}
	if (!before.known || sum->files != before.files || sum->bytes != before.bytes) {
		sums_note(&sample->sums, shard);
	}
	return rc;
}

static int compare_files(const void *left, const void *right)
{
	const struct sample_file *a = left;
	const struct sample_file *b = right;

	if (a->order != b->order) {
		return a->order < b->order ? -1 : 1;
	}
	return (a->used > b->used) - (a->used < b->used);
}

void sample_sort(struct sample *sample)
{
	if (sample->count > 0) {
		qsort(sample->files, sample->count, sizeof(*sample->files), compare_files);
	}
}

/* Removes what stands beside an entry that was removed. Returns its bytes. */
static uint64_t remove_beside(const struct sample *sample, int shard, const uint8_t key[ENTRY_KEY_BYTES])
{
	char name[DIRECTORY_NAME_BYTES];
	struct stat found;

	directory_name(key, DIRECTORY_BESIDE, name);
	return source_look(sample->task->directory, shard, name, &found) > 0 &&
	               (sample->dry || unlinkat(shard, name, 0) == 0)
	           ? sample_bytes_of(&found)
	           : 0;
}

/*
 * Returns 0 if the file is gone or no longer counts, because it is not ours; or a negative errno value. `ret_beside`:
 * the bytes that were removed beside it.
 */
static int remove_drawn(struct sample *sample, int shard, const struct sample_file *file, uint64_t *ret_beside)
{
	char name[DIRECTORY_NAME_BYTES];
	struct stat found;
	int ours;

	*ret_beside = 0;
	directory_name(file->key, DIRECTORY_ENTRY, name);
	ours = source_look(sample->task->directory, shard, name, &found);
	if (ours < 0) {
		return is_gone(-ours) ? 0 : ours;
	}
	if (!S_ISREG(found.st_mode) || recency_of(&found) != file->used) {
		return -EAGAIN;
	}
	if (!ours) {
		return 0;
	}
	if (!sample->dry && unlinkat(shard, name, 0) < 0) {
		return is_gone(errno) ? 0 : -errno;
	}
	sample->removed.entries++;
	*ret_beside = sample->has_requests ? remove_beside(sample, shard, file->key) : 0;
	sample->removed.bytes += file->bytes + *ret_beside;
	return 0;
}

void sample_remove(struct sample *sample, const struct sample_file *file)
{
	const struct sample_task *task = sample->task;
	struct sums_shard *sum = &sample->sums.shards[file->key[0]];
	uint64_t beside = 0, bytes;
	int shard;
	int rc = directory_open_shard(task->directory, task->home, file->key[0], DIRECTORY_REACH, &shard);

	if (rc == 0) {
		rc = remove_drawn(sample, shard, file, &beside);
		close(shard);
	}
	if (rc == 0) {
		bytes = file->bytes + beside;
		sum->bytes -= bytes < sum->bytes ? bytes : sum->bytes;
		sum->files -= sum->files > 0;
		sums_note(&sample->sums, file->key[0]);
	}
	sample->failures += rc < 0 && rc != -EAGAIN && !is_gone(-rc);
}

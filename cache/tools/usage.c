/* SPDX-License-Identifier: MIT */
/*
 * Two ways to the same numbers: asking every file, and believing the usage index. The second takes milliseconds for
 * a million entries and is right but for what was killed or removed by hand lately.
 */
#include "cache/tools/usage.h"

#include "cache/source.h"
#include "cache/store_state.h"
#include "cache/tools/chore.h"
#include "cache/upkeep/usage_index.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* ENOENT: the file was removed after its name was read; it counts nothing. */
static int count_file(void *context, int shard, const char *name, enum directory_kind kind)
{
	struct store_usage *usage = context;
	struct stat found;

	if (fstatat(shard, name, &found, AT_SYMLINK_NOFOLLOW) < 0) {
		return errno == ENOENT ? 0 : -errno;
	}
	usage->bytes += (uint64_t)found.st_size;
	*(kind == DIRECTORY_TEMPORARY ? &usage->temporaries : &usage->entries) += 1;
	return 0;
}

/* Work on all shards, maybe at once: each has a sum of its own. */
struct walk {
	const struct directory *directory;
	struct chore *chore;
	directory_visit *visit;
	int home;
	struct shard_sum {
		const struct walk *walk;
		struct store_usage usage;
		int error;
	} sums[DIRECTORY_SHARDS];
};

/* By one shard's thread: only the chore's count is shared. */
static int count_one(void *context, int shard, const char *name, enum directory_kind kind)
{
	struct shard_sum *sum = context;

	if (chore_stopped(sum->walk->chore)) {
		return -EINTR;
	}
	chore_add(sum->walk->chore, 1);
	return count_file(&sum->usage, shard, name, kind);
}

/* Files with other first bytes are not removed, even if the name looks like that of an entry. */
static int remove_one(void *context, int shard, const char *name, enum directory_kind kind)
{
	struct shard_sum *sum = context;
	struct stat found;
	bool ours;

	if (chore_stopped(sum->walk->chore)) {
		return -EINTR;
	}
	chore_add(sum->walk->chore, 1);
	if (!source_look(sum->walk->directory, shard, name, &found, &ours)) {
		return errno == ENOENT ? 0 : -errno;
	}
	if (!ours) {
		sum->usage.foreign++;
		return 0;
	}
	if (unlinkat(shard, name, 0) < 0) {
		return errno == ENOENT ? 0 : -errno;
	}
	sum->usage.bytes += (uint64_t)found.st_size;
	*(kind == DIRECTORY_TEMPORARY ? &sum->usage.temporaries : &sum->usage.entries) += 1;
	return 0;
}

/* Each shard has its own sums, so threads need no lock. */
static void walk_shard(void *context, unsigned shard)
{
	struct walk *walk = context;
	struct shard_sum *sum = &walk->sums[shard];

	sum->walk = walk;
	sum->error = directory_walk_shard(walk->directory, walk->home, shard, walk->visit, sum);
}

/* Totals of the files that were read, also after an error. */
static int walk_all(struct walk *walk, struct store_usage *ret_sum)
{
	int rc = directory_open(walk->directory, DIRECTORY_REACH, &walk->home);

	*ret_sum = (struct store_usage){.entries = 0};
	if (rc < 0) {
		return rc == -ENOENT ? 0 : rc;
	}
	chore_each(walk->chore, DIRECTORY_SHARDS, walk_shard, walk);
	close(walk->home);
	for (size_t i = 0; i < DIRECTORY_SHARDS; i++) {
		const struct store_usage *usage = &walk->sums[i].usage;

		ret_sum->entries += usage->entries;
		ret_sum->bytes += usage->bytes;
		ret_sum->temporaries += usage->temporaries;
		ret_sum->foreign += usage->foreign;
		rc = rc < 0 ? rc : walk->sums[i].error;
	}
	return rc;
}

/* For progress bars only. */
uint64_t usage_guess(const struct directory *directory)
{
	struct usage_index *index;
	uint64_t entries = 0;
	int home = -1;

	if (directory_open(directory, DIRECTORY_REACH, &home) < 0) {
		return 0;
	}
	if (usage_index_peek(directory, home, &index) == 0) {
		for (size_t i = 0; i < DIRECTORY_SHARDS; i++) {
			entries += index->page.shards[i].files;
		}
		usage_index_free(index);
	}
	close(home);
	return entries;
}

/* Every file is asked: exact, and slow where there are many. */
static int count_all(const struct directory *directory, struct chore *chore, struct store_usage *ret_usage)
{
	struct walk walk = {.directory = directory, .chore = chore, .visit = count_one};
	struct store_usage usage;
	int rc;

	chore_begin(chore, CHORE_LOOKING, chore ? usage_guess(directory) : 0, CHORE_GUESSED);
	rc = walk_all(&walk, &usage);
	if (rc == 0) {
		*ret_usage = usage;
	}
	return rc;
}

static int add_noted(const struct directory *directory, int home, const struct usage_index *index,
                     struct store_usage *usage)
{
	int rc = 0;

	for (unsigned i = 0; i < DIRECTORY_SHARDS; i++) {
		const struct usage_index_shard *shard = &index->page.shards[i];
		int walked = 0;

		if (shard->known) {
			usage->bytes += shard->bytes;
			usage->entries += shard->files;
		} else {
			walked = directory_walk_shard(directory, home, i, count_file, usage);
		}
		rc = rc < 0 ? rc : walked;
	}
	return rc;
}

/* Without an index every shard is walked: slower, and exact. */
static int read_noted(const struct directory *directory, struct store_usage *ret_usage)
{
	struct store_usage usage = {0};
	struct usage_index *index;
	int home = -1;
	int rc = directory_open(directory, DIRECTORY_REACH, &home);

	if (rc < 0) {
		return rc == -ENOENT ? count_all(directory, NULL, ret_usage) : rc;
	}
	if (usage_index_peek(directory, home, &index) < 0) {
		close(home);
		return count_all(directory, NULL, ret_usage);
	}
	rc = add_noted(directory, home, index, &usage);
	usage_index_free(index);
	close(home);
	if (rc == 0) {
		*ret_usage = usage;
	}
	return rc;
}

/* Otherwise the next stores would look for entries that no longer exist. */
static void remove_index(const struct directory *directory)
{
	int home = -1;

	if (directory_open(directory, DIRECTORY_REACH, &home) == 0) {
		usage_index_remove(directory, home);
		close(home);
	}
}

/* The index is removed with the entries that it describes. */
static int remove_all(const struct directory *directory, struct chore *chore, struct store_usage *ret_removed)
{
	struct walk walk = {.directory = directory, .chore = chore, .visit = remove_one};
	int rc;

	chore_begin(chore, CHORE_WORKING, chore ? usage_guess(directory) : 0, CHORE_GUESSED);
	rc = walk_all(&walk, ret_removed);
	remove_index(directory);
	return rc;
}

int store_usage(struct store *store, struct store_usage *ret_usage)
{
	return store->directory.path ? count_all(&store->directory, store->chore, ret_usage) : -ENXIO;
}

int store_usage_noted(struct store *store, struct store_usage *ret_usage)
{
	return store->directory.path ? read_noted(&store->directory, ret_usage) : -ENXIO;
}

/* The counters stay: they tell about the past, not about the content. */
int store_clear(struct store *store, struct store_usage *ret_removed)
{
	if (!store->directory.path) {
		return -ENXIO;
	}
	return store->read_only ? -EROFS : remove_all(&store->directory, store->chore, ret_removed);
}

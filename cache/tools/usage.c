/* SPDX-License-Identifier: MIT */
/*
 * There are two sources of the same numbers: fstatat() of every file, and the usage index. The index takes milliseconds
 * for a million entries, but may lack recent changes (see usage.h).
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

/* ENOENT: the file was removed after its name was read, so it does not count. */
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

/* A walk over all shards. Each shard has its own sums, which walk_all() adds. */
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

/* Counts one file for store_usage(). */
static int count_one(void *context, int shard, const char *name, enum directory_kind kind)
{
	struct shard_sum *sum = context;

	if (chore_stopped(sum->walk->chore)) {
		return -EINTR;
	}
	chore_add(sum->walk->chore, 1);
	return count_file(&sum->usage, shard, name, kind);
}

/* A file with other first bytes than ours is not removed, even if its name is that of an entry. */
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

/* chore_each() calls it for each shard. An error does not end the walk. */
static void walk_shard(void *context, unsigned shard)
{
	struct walk *walk = context;
	struct shard_sum *sum = &walk->sums[shard];

	sum->walk = walk;
	sum->error = directory_walk_shard(walk->directory, walk->home, shard, walk->visit, sum);
}

/* Walks all shards and adds their sums. *ret_sum is also valid after an error, for the files that were visited. */
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

/* Good enough for progress bars, which need a total before the work begins. */
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

/* Examines every file: exact, but slow if there are many. */
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

/* Without an index every shard is counted, which is slower and exact. */
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

/* Removes the index. Otherwise the next stores would look for entries that no longer exist. */
static void remove_index(const struct directory *directory)
{
	int home = -1;

	if (directory_open(directory, DIRECTORY_REACH, &home) == 0) {
		usage_index_remove(directory, home);
		close(home);
	}
}

/* Removes the index after the entries that it describes, also if some entries could not be removed. */
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

/* The counters are not removed, because they count past events and not the content of the directory. */
int store_clear(struct store *store, struct store_usage *ret_removed)
{
	if (!store->directory.path) {
		return -ENXIO;
	}
	return store->read_only ? -EROFS : remove_all(&store->directory, store->chore, ret_removed);
}

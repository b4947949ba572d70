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

/* A walk over the shards. `chore` may be NULL. */
struct walk {
	const struct directory *directory;
	struct chore *chore;
	struct store_usage usage;
};

static int add_file(struct walk *walk, const struct directory_file *file, off_t size)
{
	walk->usage.bytes += (uint64_t)size;
	walk->usage.temporaries += file->kind == DIRECTORY_TEMPORARY;
	walk->usage.entries += file->kind == DIRECTORY_ENTRY;
	return 0;
}

/* ENOENT: the file was removed after its name was read, so it does not count. */
static int count_file(void *context, const struct directory_file *file)
{
	struct walk *walk = context;
	struct stat found;

	if (chore_stopped(walk->chore)) {
		return -EINTR;
	}
	if (file->kind == DIRECTORY_FOREIGN) {
		return 0;
	}
	chore_add(walk->chore, 1);
	if (fstatat(file->shard, file->name, &found, AT_SYMLINK_NOFOLLOW) < 0) {
		return errno == ENOENT ? 0 : -errno;
	}
	return add_file(walk, file, found.st_size);
}

/* A file with other first bytes than ours is not removed, even if its name is that of an entry. */
static int remove_file(void *context, const struct directory_file *file)
{
	struct walk *walk = context;
	struct stat found;
	bool ours;

	if (chore_stopped(walk->chore)) {
		return -EINTR;
	}
	if (file->kind == DIRECTORY_FOREIGN) {
		return 0;
	}
	chore_add(walk->chore, 1);
	if (!source_look(walk->directory, file->shard, file->name, &found, &ours)) {
		return errno == ENOENT ? 0 : -errno;
	}
	if (!ours) {
		walk->usage.foreign++;
		return 0;
	}
	if (unlinkat(file->shard, file->name, 0) < 0) {
		return errno == ENOENT ? 0 : -errno;
	}
	return add_file(walk, file, found.st_size);
}

/* An error does not end the walk: the sums are valid for the files that were visited. */
static int walk_all(struct walk *walk, int home, directory_visit *visit, enum chore_phase phase)
{
	int rc = 0;

	chore_begin(walk->chore, phase, walk->chore ? usage_guess(walk->directory) : 0, CHORE_GUESSED);
	for (unsigned shard = 0; shard < DIRECTORY_SHARDS; shard++) {
		int walked = directory_walk_shard(walk->directory, home, shard, visit, walk);

		rc = rc < 0 ? rc : walked;
		chore_advance(walk->chore, shard + 1, DIRECTORY_SHARDS);
	}
	return rc;
}

/* Opens the home. -ENOENT: nothing was stored yet. */
static int open_home(const struct store *store, int *ret_home)
{
	return store->directory.path ? directory_open(&store->directory, DIRECTORY_REACH, ret_home) : -ENXIO;
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

/* A shard that the index does not know is counted; without an index that is every shard. */
static int add_noted(struct walk *walk, int home, const struct usage_index *index)
{
	int rc = 0;

	for (unsigned i = 0; i < DIRECTORY_SHARDS; i++) {
		int walked = 0;

		if (index && index->page.shards[i].known) {
			walk->usage.bytes += index->page.shards[i].bytes;
			walk->usage.entries += index->page.shards[i].files;
		} else {
			walked = directory_walk_shard(walk->directory, home, i, count_file, walk);
		}
		rc = rc < 0 ? rc : walked;
	}
	return rc;
}

int store_usage(struct store *store, struct store_usage *ret_usage)
{
	struct walk walk = {.directory = &store->directory, .chore = store->chore};
	int home = -1;
	int rc = open_home(store, &home);

	if (rc == 0) {
		rc = walk_all(&walk, home, count_file, CHORE_LOOKING);
		close(home);
	}
	if (rc == 0 || rc == -ENOENT) {
		*ret_usage = walk.usage;
		rc = 0;
	}
	return rc;
}

int store_usage_noted(struct store *store, struct store_usage *ret_usage)
{
	struct walk walk = {.directory = &store->directory};
	struct usage_index *index = NULL;
	int home = -1;
	int rc = open_home(store, &home);

	if (rc == 0) {
		(void)usage_index_peek(&store->directory, home, &index);
		rc = add_noted(&walk, home, index);
		usage_index_free(index);
		close(home);
	}
	if (rc == 0 || rc == -ENOENT) {
		*ret_usage = walk.usage;
		rc = 0;
	}
	return rc;
}

/*
 * Removes the index after the entries that it describes, also if some entries could not be removed: the next stores
 * would look for entries that no longer exist. The counters are not removed, because they count past events and not the
 * content of the directory.
 */
int store_clear(struct store *store, struct store_usage *ret_removed)
{
	struct walk walk = {.directory = &store->directory, .chore = store->chore};
	int home = -1;
	int rc = store->read_only && store->directory.path ? -EROFS : open_home(store, &home);

	if (rc == 0) {
		rc = walk_all(&walk, home, remove_file, CHORE_WORKING);
		usage_index_remove(&store->directory, home);
		close(home);
	}
	*ret_removed = walk.usage;
	return rc == -ENOENT ? 0 : rc;
}

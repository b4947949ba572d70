/* SPDX-License-Identifier: MIT */
#include "cache/usage.h"

#include "cache/source.h"
#include "cache/usage_index.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

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

struct removal {
	const struct directory *directory;
	struct store_usage sum;
};

static int remove_file(void *context, int shard, const char *name, enum directory_kind kind)
{
	struct store_usage removed = {0};
	struct removal *removal = context;
	struct store_usage *sum = &removal->sum;
	int rc = count_file(&removed, shard, name, kind);

	if (rc < 0) {
		return rc;
	}
	if (!source_is_ours(removal->directory, shard, name)) {
		sum->foreign++;
		return 0;
	}
	if (unlinkat(shard, name, 0) < 0) {
		return errno == ENOENT ? 0 : -errno;
	}
	sum->entries += removed.entries;
	sum->temporaries += removed.temporaries;
	sum->bytes += removed.bytes;
	return 0;
}

int usage_count(const struct directory *directory, struct store_usage *ret_usage)
{
	struct store_usage usage = {0};
	int rc = directory_walk(directory, count_file, &usage);

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

int usage_noted(const struct directory *directory, struct store_usage *ret_usage)
{
	struct store_usage usage = {0};
	struct usage_index *index;
	int home = -1;
	int rc = directory_open(directory, DIRECTORY_REACH, &home);

	if (rc < 0) {
		return rc == -ENOENT ? usage_count(directory, ret_usage) : rc;
	}
	if (usage_index_peek(directory, home, &index) < 0) {
		close(home);
		return usage_count(directory, ret_usage);
	}
	rc = add_noted(directory, home, index, &usage);
	usage_index_free(index);
	close(home);
	if (rc == 0) {
		*ret_usage = usage;
	}
	return rc;
}

/* Else the first stores to come would look for what has gone. */
static void remove_index(const struct directory *directory)
{
	int home = -1;

	if (directory_open(directory, DIRECTORY_REACH, &home) == 0) {
		usage_index_remove(directory, home);
		close(home);
	}
}

int usage_clear(const struct directory *directory, struct store_usage *ret_removed)
{
	struct removal removal = {.directory = directory};
	int rc = directory_walk(directory, remove_file, &removal);

	remove_index(directory);
	if (rc == 0) {
		*ret_removed = removal.sum;
	}
	return rc;
}

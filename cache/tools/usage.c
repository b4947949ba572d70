/* SPDX-License-Identifier: MIT */
#include "cache/tools/usage.h"

#include "cache/store_state.h"
#include "cache/tools/chore.h"
#include "cache/upkeep/sample.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* ENOENT: the file was removed after its name was read, so it does not count. */
static int count_file(void *context, const struct directory_file *file)
{
	struct store_usage *usage = context;
	struct stat found;

	if (file->kind == DIRECTORY_FOREIGN) {
		return 0;
	}
	if (fstatat(file->shard, file->name, &found, AT_SYMLINK_NOFOLLOW) < 0) {
		return errno == ENOENT ? 0 : -errno;
	}
	usage->bytes += sample_bytes_of(file->kind, &found);
	usage->temporaries += file->kind == DIRECTORY_TEMPORARY;
	usage->entries += file->kind == DIRECTORY_ENTRY;
	return 0;
}

/* Counts the shards of which no sum is known. -EPERM: the shard is not trusted, so no look-up reads it. */
static int count_shards(const struct store *store, int home, const struct sums *sums, struct store_usage *ret_usage)
{
	const struct sums_shard total = sums_total(sums);
	struct store_usage usage = {.entries = total.files, .bytes = total.bytes};
	int rc = 0;

	for (unsigned shard = 0; shard < DIRECTORY_SHARDS; shard++) {
		const uint64_t before = usage.entries;

		if (chore_stopped(store->chore)) {
			return -EINTR;
		}
		if (!sums->shards[shard].known) {
			int walked = directory_walk_shard(&store->directory, home, shard, count_file, &usage);

			rc = rc < 0 || walked == -EPERM ? rc : walked;
		}
		chore_advance(store->chore, usage.entries - before, shard + 1, DIRECTORY_SHARDS);
	}
	*ret_usage = usage;
	return rc;
}

enum extent { COUNT_ALL, COUNT_UNKNOWN };

static int count_usage(const struct store *store, enum extent extent, struct store_usage *ret_usage)
{
	struct store_usage usage = {.entries = 0};
	struct sums sums = {.file = -1};
	int home = -1;
	int rc = store->directory.path ? directory_open(&store->directory, DIRECTORY_REACH, &home) : -ENXIO;

	if (rc == 0) {
		if (extent == COUNT_UNKNOWN) {
			sums_open(&store->directory, home, SUMS_READ, &sums);
			sums_close(&sums);
		}
		rc = count_shards(store, home, &sums, &usage);
		close(home);
	}
	if (rc == 0 || rc == -ENOENT) { /* -ENOENT: nothing was stored yet */
		*ret_usage = usage;
		rc = 0;
	}
	return rc;
}

int store_usage(struct store *store, struct store_usage *ret_usage)
{
	chore_begin(store->chore, "counting");
	return count_usage(store, COUNT_ALL, ret_usage);
}

int store_usage_about(struct store *store, struct store_usage *ret_usage)
{
	return count_usage(store, COUNT_UNKNOWN, ret_usage);
}

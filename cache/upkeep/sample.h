/* SPDX-License-Identifier: MIT */
/*
 * sample: draws files of a shard, and removes them (docs/DESIGN.md C4)
 *
 * Purpose: sample_shard() reads the names of one shard and examines some of its entries: all of them, or about
 * SAMPLE_FILES of a larger shard. It corrects the shard's sum (cache/upkeep/sums.h), and removes temporary files whose
 * last write is an hour ago, and files of facts: those not read for a while, and all if the cache is above the cap,
 * because only speed depends on them. sample_remove() removes an entry that was drawn, if it was not used or replaced
 * since. Only files whose first bytes are ours, or empty ones, are removed. Entries of another format age like any
 * other.
 *
 * Calling sequence: sample_begin(); sample_shard() for any shards, which adds to `files`; sample_sort();
 * sample_remove() for any of them; sample_settle(), and again from sample_shard() on; sample_end().
 * Errors: negative errno values. Threads: one.
 */
#ifndef CACHE_UPKEEP_SAMPLE_H
#define CACHE_UPKEEP_SAMPLE_H

#include "cache/upkeep/sums.h"

#define SAMPLE_FILES 64

/* An entry that was drawn. */
struct sample_file {
	uint8_t key[ENTRY_KEY_BYTES];
	int64_t used;   /* recency_of() */
	int64_t order;  /* the lowest is evicted first */
	uint64_t bytes; /* sample_bytes_of() */
};

/* Where files are sampled, and for which store. */
struct sample_task {
	const struct directory *directory;
	int home;
	uint64_t cap; /* 0: none */
	int64_t now;  /* recency_now() */
	/* the file that was or is to be stored; NULL, 0: none */
	const uint8_t *key;
	uint64_t bytes;
};

struct sample {
	const struct sample_task *task;
	uint32_t most; /* files to draw of one shard: SAMPLE_FILES, or UINT32_MAX for all */
	bool clears;   /* facts, and requests without an entry, are removed at once */
	bool dry;      /* nothing is changed; what would be removed is counted */
	struct sums sums;
	uint64_t random; /* made from `now`: which names are drawn */

	struct sample_file *files;
	size_t count;
	size_t room;

	bool has_requests; /* in a shard that was read */

	/* what was done */
	struct sample_removed {
		uint64_t entries;
		uint64_t bytes; /* of these and of other files */
	} removed;
	uint64_t failures; /* files that could not be removed */
};

/* Returns the bytes that a file takes: its allocated blocks, or its size if that is larger. */
uint64_t sample_bytes_of(const struct stat *found);

/* `clears` and `dry` are set, the rest is zero. */
void sample_begin(struct sample *sample, const struct sample_task *task, uint32_t most);
/* Writes the sums of shards from which files were removed, and empties `files`. */
void sample_settle(struct sample *sample);
/* sample_settle(), and frees what the sample holds. */
void sample_end(struct sample *sample);
/* Returns about how many entries a shard has. */
uint32_t sample_expects(const struct sample *sample, unsigned shard);
/*
 * Draws files of a shard. Its sum decides how many names are skipped between two that are drawn. If the shard cannot be
 * read, the sum stays. A missing shard is empty.
 */
int sample_shard(struct sample *sample, unsigned shard);
/* Sorts `files` by their last use: those larger than entry_size_limit() and short-lived ones before all others. */
void sample_sort(struct sample *sample);
/*
 * Removes a file that was drawn, with its request, and subtracts both. Nothing happens if another process has used or
 * replaced it since. Takes no lock: a result that another process stores under the key at the same moment may be lost,
 * which costs a compilation.
 */
void sample_remove(struct sample *sample, const struct sample_file *file);

#endif

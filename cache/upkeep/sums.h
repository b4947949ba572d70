/* SPDX-License-Identifier: MIT */
/*
 * sums: the size of each shard when it was last sampled, in one small file (docs/DESIGN.md C4)
 *
 * Purpose: a store reads one shard (cache/upkeep/sample.h) and writes that shard's sum to <directory>/v1/sums. The
 * total of the 256 sums is the size of the cache, without reading the other shards. The file has 4 KB, whatever the
 * size of the cache, and names no entry. A sample replaces the sum, and so corrects what was wrong: another process
 * may have stored or removed files meanwhile.
 *
 * Calling sequence: sums_open(), any of the others, sums_flush() before sums_read() and at the end. No lock is needed:
 * only sums that were noted are written, and each has a check value, so that a torn or forged one is unknown.
 * Errors: none. If the file cannot be opened or created, all sums are unknown and sums_flush() does nothing.
 */
#ifndef CACHE_UPKEEP_SUMS_H
#define CACHE_UPKEEP_SUMS_H

#include "cache/directory.h"

struct sums_shard {
	uint64_t bytes; /* allocated for entries and temporary files */
	uint32_t files; /* number of entries */
	uint32_t known; /* 0: the shard was not sampled yet; in the file: the check value */
};

struct sums {
	int file; /* descriptor; -1: none */
	struct sums_shard shards[DIRECTORY_SHARDS];
	bool noted[DIRECTORY_SHARDS]; /* since the last sums_flush() */
};

enum sums_access { SUMS_READ, SUMS_WRITE };

/* Opens the file, creates it for SUMS_WRITE, and reads all sums. The caller closes it. */
void sums_open(const struct directory *directory, int home, enum sums_access access, struct sums *ret_sums);
/* Reads all sums again. */
void sums_read(struct sums *sums);
/* Makes the sum of one shard known. */
void sums_note(struct sums *sums, unsigned shard);
/* Writes the sums that were noted. */
void sums_flush(struct sums *sums);

/* Returns the total of all known sums. */
struct sums_shard sums_total(const struct sums *sums);

#endif

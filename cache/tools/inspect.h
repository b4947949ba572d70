/* SPDX-License-Identifier: MIT */
/*
 * inspect: every file of a cache directory, read to the last byte and judged
 *
 * Purpose: for people (`nvrtccache verify`). A host finds out that a file is bad when it wants it; this finds all, with
 * the checks of a host's reading (cache/source.h), and says what is wrong. Nothing is written, no lock is taken, and the
 * time of last use stays (O_NOATIME, where the system lets us). Memory: that of one file.
 *
 * Calling sequence: inspect_shard() for each number below DIRECTORY_SHARDS, with a home that directory_open() gave.
 * Errors: negative errno values: the shard cannot be read; one that is missing has no files. What a file is is no error.
 */
#ifndef CACHE_TOOLS_INSPECT_H
#define CACHE_TOOLS_INSPECT_H

#include "cache/directory.h"

enum inspect_verdict {
	INSPECT_SOUND,
	INSPECT_DAMAGED,
	INSPECT_UNTRUSTED,    /* others could have written it */
	INSPECT_OTHER_FORMAT, /* of an earlier or later build */
	INSPECT_FOREIGN,      /* none of ours */
	INSPECT_TEMPORARY,
	INSPECT_UNREADABLE,
	INSPECT_VERDICTS
};

struct inspected {
	int home, shard; /* descriptors */
	unsigned number; /* of the shard */
	const char *name;
	enum inspect_verdict verdict;
	const char *reason; /* why it is not sound */
	const uint8_t *key; /* that its name stands for; NULL: for none */
	struct stat found;
	uint64_t results; /* sound ones in it */
};

/* Asked of each sound entry: NULL, or what is wrong with what stands in it; a format of another build: *ret_other. */
typedef const char *inspect_judge(void *context, const struct entry *entry, bool *ret_other);
/* Non-zero ends the shard, and is given back. */
typedef int inspect_visit(void *context, const struct inspected *file);

int inspect_shard(const struct directory *directory, int home, unsigned number, inspect_judge *judge,
                  inspect_visit *visit, void *context);

#endif

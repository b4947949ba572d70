/* SPDX-License-Identifier: MIT */
/*
 * inspect: reads every file of a cache directory to the last byte and judges it, for `nvrtccache verify`
 *
 * A host notices a bad file when it needs it. inspect_shard() finds all of them, with the checks that a host makes
 * (cache/source.h), and says what is wrong. Nothing is written, no lock is taken, and the time of last use stays
 * (O_NOATIME). Memory: that of one file.
 *
 * Calling sequence: inspect_shard() for each number below DIRECTORY_SHARDS, with a home from directory_open().
 * Errors: negative errno values: the shard cannot be read. A missing shard has no files. A bad file is not an error.
 */
#ifndef CACHE_TOOLS_INSPECT_H
#define CACHE_TOOLS_INSPECT_H

#include "cache/directory.h"

enum inspect_verdict {
	INSPECT_SOUND,
	INSPECT_DAMAGED,
	INSPECT_UNTRUSTED,    /* other users can write to it */
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

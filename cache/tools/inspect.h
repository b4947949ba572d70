/* SPDX-License-Identifier: MIT */
/*
 * inspect: checks the integrity of every file of a cache directory, for `nvrtccache verify`
 *
 * A host notices a bad file only when it reads that file. inspect_shard() reads all files of a shard, makes the same
 * checks as a host (cache/source.h), and reports what is wrong. Nothing is written, no lock is taken, and the time of
 * last use does not change (O_NOATIME, on files that the user owns). Memory: at most one file at a time.
 *
 * Calling sequence: inspect_shard() for each number below DIRECTORY_SHARDS, with a home from directory_open().
 * Errors: negative errno values if the shard cannot be read. A missing shard has no files. A bad file is not an error.
 */
#ifndef CACHE_TOOLS_INSPECT_H
#define CACHE_TOOLS_INSPECT_H

#include "cache/directory.h"

enum inspect_verdict {
	INSPECT_SOUND,
	INSPECT_DAMAGED,
	INSPECT_UNTRUSTED,    /* other users can write to it */
	INSPECT_OTHER_FORMAT, /* written by an earlier or later build */
	INSPECT_FOREIGN,      /* the name or the first bytes are not ours */
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
	const uint8_t *key; /* the key of the file's name; NULL: not the name of an entry */
	struct stat found;
	uint64_t results; /* number of sound results in the file */
};

/*
 * Called for each entry whose checksums are right. Returns NULL, or what is wrong with its content. Sets *ret_other if
 * the content has the format of another build.
 */
typedef const char *inspect_judge(void *context, const struct entry *entry, bool *ret_other);
/* Called for each file. inspect_shard() stops at and returns a non-zero value. */
typedef int inspect_visit(void *context, const struct inspected *file);

/* Inspects the files of shard `number`. `context` is passed to both functions. */
int inspect_shard(const struct directory *directory, int home, unsigned number, inspect_judge *judge,
                  inspect_visit *visit, void *context);

#endif

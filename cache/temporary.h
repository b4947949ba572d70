/* SPDX-License-Identifier: MIT */
/*
 * temporary: a file that appears under its name complete or not at all (docs/DESIGN.md C1)
 *
 * Calling sequence: temporary_begin() makes "tmp.<pid>.<random>" in a directory; temporary_append() any number of
 * times; temporary_publish() or temporary_discard(). After a failed call only temporary_discard() may follow.
 * Errors: negative errno values; -EFBIG: RLIMIT_FSIZE would be exceeded (cache/output.h). -ENOSPC, -EDQUOT and -EIO may
 * also come late, from temporary_publish(). Ownership: the directory's descriptor stays the caller's. Threads: one.
 */
#ifndef CACHE_TEMPORARY_H
#define CACHE_TEMPORARY_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* DURABILITY_SYNC: content and name are on the disk when it returns. */
enum durability { DURABILITY_NONE, DURABILITY_SYNC };

struct temporary {
	int directory;
	int file;
	uint64_t written;
	uint64_t limit; /* the process's RLIMIT_FSIZE */
	char name[48];
};

int temporary_begin(int directory, mode_t mode, struct temporary *ret_temporary);
int temporary_append(struct temporary *temporary, const void *bytes, size_t size);
/* Renames the file to `name`, which may exist. */
int temporary_publish(struct temporary *temporary, const char *name, enum durability durability);
void temporary_discard(struct temporary *temporary);

#endif

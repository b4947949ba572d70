/* SPDX-License-Identifier: MIT */
/*
 * temporary: a file that appears under its name whole or not at all (docs/DESIGN.md C1)
 *
 * Calling sequence: temporary_begin() makes "tmp.<pid>.<random>" in a directory, temporary_append() any number of
 * times, then temporary_publish() or temporary_discard(). After a failed call the only call left is
 * temporary_discard(). Errors: negative errno values; -EFBIG: the process's RLIMIT_FSIZE would be passed
 * (cache/output.h). -ENOSPC, -EDQUOT, -EIO also come late, from temporary_publish(). Ownership: the directory's
 * descriptor stays the caller's. Threads, fork: a temporary file belongs to one thread.
 */
#ifndef CACHE_TEMPORARY_H
#define CACHE_TEMPORARY_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* DURABILITY_SYNC: on the disk before it appears, and the name too. */
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
/* Renames it over `name`, which may exist. */
int temporary_publish(struct temporary *temporary, const char *name, enum durability durability);
void temporary_discard(struct temporary *temporary);

#endif

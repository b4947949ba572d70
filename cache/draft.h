/* SPDX-License-Identifier: MIT */
/*
 * draft: a file that appears under its name whole or not at all (docs/DESIGN.md C1)
 *
 * Calling sequence: draft_begin() makes "tmp.<pid>.<random>" in a directory, draft_append() any number of times, then
 * draft_publish() or draft_discard(). After a failed call the only call left is draft_discard().
 * Errors: negative errno values; -EFBIG: the process's RLIMIT_FSIZE would be passed (cache/output.h). -ENOSPC, -EDQUOT,
 * -EIO also come late, from draft_publish(). Ownership: the directory's descriptor stays the caller's. Threads, fork: a
 * draft belongs to one thread.
 */
#ifndef CACHE_DRAFT_H
#define CACHE_DRAFT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct draft {
	int directory;
	int file;
	uint64_t written;
	uint64_t limit; /* the process's RLIMIT_FSIZE */
	char name[48];
};

int draft_begin(int directory, mode_t mode, struct draft *ret_draft);
int draft_append(struct draft *draft, const void *bytes, size_t size);
/* Renames it over `name`, which may exist. `sync`: on the disk before it appears, and the name too. */
int draft_publish(struct draft *draft, const char *name, bool sync);
void draft_discard(struct draft *draft);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * temporary: a temporary file that gets its final name only when it is complete (docs/DESIGN.md C1)
 *
 * Calling sequence: temporary_begin() creates "tmp.<pid>.<number>" in a directory; output_at() to its descriptor any
 * number of times; temporary_publish(), and in any case temporary_discard(), which does nothing after a success.
 * Errors: negative errno values. -ENOSPC, -EDQUOT and -EIO may also be returned by temporary_publish().
 * Ownership: the directory's descriptor belongs to the caller. Threads: one.
 */
#ifndef CACHE_TEMPORARY_H
#define CACHE_TEMPORARY_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* DURABILITY_SYNC: content and name are on the disk when temporary_publish() returns. */
enum durability { DURABILITY_NONE, DURABILITY_SYNC };

struct temporary {
	int directory;
	int file;      /* -1: closed */
	char name[48]; /* "": there is none */
};

/* Creates the file with exactly this mode, whatever the umask is. */
int temporary_begin(int directory, mode_t mode, struct temporary *ret_temporary);
/* Closes the file and renames it to `name`. An existing file of that name is replaced. */
int temporary_publish(struct temporary *temporary, const char *name, enum durability durability);
/* Closes and removes the file, unless it was published. */
void temporary_discard(struct temporary *temporary);

#endif

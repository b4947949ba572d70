/* SPDX-License-Identifier: MIT */
/*
 * temporary: states of a temporary file
 *
 *   --begin--> open --output_at()--> open --publish--> closed --> renamed: done
 *                |                      |                 |
 *                `----------------------`--- failure -----`--> discard: closed, unlinked
 */
#include "cache/temporary.h"

#include "cache/calls.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAME_TRIES 16

/* Differs for each file of this process. Another one with its process id, in a container, has other times. */
static uint64_t next_number(void)
{
	static atomic_uint_fast64_t counter;
	const uint64_t count = atomic_fetch_add_explicit(&counter, 1, memory_order_relaxed);

	return ((uint64_t)call_clock_straight() + (count << 48)) * UINT64_C(0x9e3779b97f4a7c15);
}

int temporary_begin(int directory, mode_t mode, struct temporary *ret_temporary)
{
	struct temporary *temporary = ret_temporary;
	int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
	int tries = 0;
	int rc = 0;

	*temporary = (struct temporary){.directory = directory, .file = -1};
	do {
		(void)snprintf(temporary->name, sizeof(temporary->name), "tmp.%ld.%016llx", (long)getpid(),
		               (unsigned long long)next_number());
		temporary->file = TEMP_FAILURE_RETRY(openat(directory, temporary->name, flags, mode));
	} while (temporary->file < 0 && errno == EEXIST && ++tries < NAME_TRIES);
	if (temporary->file < 0) {
		rc = -errno;
		temporary->name[0] = '\0';
	} else if (fchmod(temporary->file, mode) < 0) { /* the umask may have removed bits */
		rc = -errno;
		temporary_discard(temporary);
	}
	return rc;
}

/* With DURABILITY_SYNC, the content is synced before the rename, and the directory after it. */
int temporary_publish(struct temporary *temporary, const char *name, enum durability durability)
{
	int file = temporary->file;

	if (durability == DURABILITY_SYNC && TEMP_FAILURE_RETRY(fsync(file)) < 0) {
		return -errno;
	}
	temporary->file = -1;
	if (close(file) < 0 && errno != EINTR) { /* NFS and quotas report a full disk here */
		return -errno;
	}
	if (renameat(temporary->directory, temporary->name, temporary->directory, name) < 0) {
		return -errno;
	}
	temporary->name[0] = '\0';
	return durability == DURABILITY_SYNC && TEMP_FAILURE_RETRY(fsync(temporary->directory)) < 0 ? -errno : 0;
}

/* Also called after a failed temporary_publish(). Only the temporary name is removed, never the final one. */
void temporary_discard(struct temporary *temporary)
{
	if (temporary->file >= 0) {
		close(temporary->file);
		temporary->file = -1;
	}
	if (temporary->name[0] != '\0') {
		(void)unlinkat(temporary->directory, temporary->name, 0);
		temporary->name[0] = '\0';
	}
}

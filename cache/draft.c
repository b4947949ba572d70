/* SPDX-License-Identifier: MIT */
/*
 * draft: a temporary file on its way to its name
 *
 *   --begin--> open --append--> open --publish--> closed --> renamed: done
 *                |                 |                 |
 *                `-----------------`--- failure -----`--> discard: closed, unlinked
 */
#include "cache/draft.h"

#include "cache/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define NAME_TRIES 16

/* Unlike any other of this or another process; containers on one volume share process ids, hence the random part. */
static uint64_t unique_number(void)
{
	static atomic_uint_fast64_t counter;
	uint64_t number;
	struct timespec now = {0};

	if (getrandom(&number, sizeof(number), GRND_NONBLOCK) == (ssize_t)sizeof(number)) {
		return number;
	}
	(void)clock_gettime(CLOCK_REALTIME, &now);
	number = (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
	number += atomic_fetch_add_explicit(&counter, 1, memory_order_relaxed) << 48;
	return number * UINT64_C(0x9e3779b97f4a7c15);
}

int draft_begin(int directory, mode_t mode, struct draft *ret_draft)
{
	struct draft draft = {.directory = directory, .file = -1};
	struct rlimit limit = {.rlim_cur = RLIM_INFINITY};
	int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
	int tries = 0;

	(void)getrlimit(RLIMIT_FSIZE, &limit);
	draft.limit = limit.rlim_cur == RLIM_INFINITY ? UINT64_MAX : limit.rlim_cur;
	do {
		(void)snprintf(draft.name, sizeof(draft.name), "tmp.%ld.%016llx", (long)getpid(),
		               (unsigned long long)unique_number());
		draft.file = TEMP_FAILURE_RETRY(openat(directory, draft.name, flags, mode));
	} while (draft.file < 0 && errno == EEXIST && ++tries < NAME_TRIES);
	if (draft.file < 0) {
		return -errno;
	}
	if (fchmod(draft.file, mode) < 0) { /* the umask may have taken bits */
		int rc = -errno;

		draft_discard(&draft);
		return rc;
	}
	*ret_draft = draft;
	return 0;
}

int draft_append(struct draft *draft, const void *bytes, size_t size)
{
	int rc;

	if (size > draft->limit - draft->written) {
		return -EFBIG;
	}
	rc = output_at(draft->file, (off_t)draft->written, bytes, size);
	draft->written += size;
	return rc;
}

static int replace(struct draft *draft, const char *name)
{
	if (renameat(draft->directory, draft->name, draft->directory, name) == 0) {
		return 0;
	}
	/* somebody made a directory of that name: it goes if it is empty */
	if ((errno == EISDIR || errno == ENOTEMPTY || errno == EEXIST) &&
	    unlinkat(draft->directory, name, AT_REMOVEDIR) == 0 &&
	    renameat(draft->directory, draft->name, draft->directory, name) == 0) {
		return 0;
	}
	return -errno;
}

int draft_publish(struct draft *draft, const char *name, bool sync)
{
	int file = draft->file;
	int rc;

	if (sync && TEMP_FAILURE_RETRY(fsync(file)) < 0) {
		return -errno;
	}
	draft->file = -1;
	if (close(file) < 0 && errno != EINTR) { /* NFS and quotas report a full disk here */
		return -errno;
	}
	rc = replace(draft, name);
	if (rc < 0) {
		return rc;
	}
	draft->name[0] = '\0';
	return sync && TEMP_FAILURE_RETRY(fsync(draft->directory)) < 0 ? -errno : 0;
}

void draft_discard(struct draft *draft)
{
	if (draft->file >= 0) {
		close(draft->file);
		draft->file = -1;
	}
	if (draft->name[0] != '\0') {
		(void)unlinkat(draft->directory, draft->name, 0);
		draft->name[0] = '\0';
	}
}

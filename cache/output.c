/* SPDX-License-Identifier: MIT */
/*
 * Writes go through here, and every one of them is wrapped: signals blocked, bytes written, what the write raised
 * taken back, signals restored.
 */
#include "cache/output.h"

#include "cache/calls.h"

#include <errno.h>

#define BIT(signal) (1u << ((signal) - 1))
#define SIGNALS     (BIT(SIGXFSZ) | BIT(SIGPIPE))

struct shelter {
	unsigned blocked; /* by the host */
	unsigned pending; /* for the host, among those that it blocks */
};

/* Blocked in this thread only, and for one write: other threads and the host's handlers see nothing. */
static struct shelter block_signals(void)
{
	struct shelter shelter = {.blocked = call_block(SIGNALS)};

	/* an unblocked signal is never pending */
	if (shelter.blocked != 0) {
		shelter.pending = call_pending();
	}
	return shelter;
}

/*
 * The signal that the write raised is consumed before the mask is restored; one that was pending before is the
 * host's.
 */
static void restore_signals(struct shelter shelter, int error)
{
	int raised = error == -EFBIG ? SIGXFSZ : error == -EPIPE ? SIGPIPE : 0;

	if (raised != 0 && !(shelter.pending & BIT(raised))) {
		call_consume((unsigned)raised);
	}
	call_restore(SIGNALS, shelter.blocked);
}

/*
 * The limit is checked first, because a kernel writes up to the limit before it raises SIGXFSZ: a torn file would be
 * left.
 */
int output_at(int fd, off_t offset, const void *bytes, size_t size)
{
	struct rlimit limit;
	struct shelter shelter;
	size_t done = 0;
	int error = 0;

	if (call_getrlimit(RLIMIT_FSIZE, &limit) == 0 &&
	    (limit.rlim_cur < size || limit.rlim_cur - size < (rlim_t)offset)) {
		return -EFBIG;
	}
	shelter = block_signals();
	while (done < size && error == 0) {
		ssize_t put = call_pwrite(fd, (const char *)bytes + done, size - done, offset + (off_t)done);

		if (put <= 0) {
			error = put < 0 ? -errno : -EIO;
		} else {
			done += (size_t)put;
		}
	}
	restore_signals(shelter, error);
	return error;
}

/* One write(), so that lines of several processes do not mix. */
int output_line(int fd, const void *bytes, size_t size)
{
	struct shelter shelter = block_signals();
	int error = call_write(fd, bytes, size) < 0 ? -errno : 0;

	restore_signals(shelter, error);
	return error;
}

/* ftruncate() beyond the limit raises SIGXFSZ too. */
int output_cut(int fd, off_t size)
{
	struct shelter shelter = block_signals();
	struct stat found;
	int error = 0;

	if (call_fstat(fd, &found) < 0 || (found.st_size > size && call_ftruncate(fd, size) < 0)) {
		error = -errno;
	}
	restore_signals(shelter, error);
	return error;
}

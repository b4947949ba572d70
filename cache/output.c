/* SPDX-License-Identifier: MIT */
/*
 * Each write has four steps: block both signals, write, consume the signal that the write raised, restore the mask.
 */
#include "cache/output.h"

#include "cache/calls.h"

#include <errno.h>
#include <stdint.h>

#define BIT(signal) (1u << ((signal) - 1))
#define SIGNALS     (BIT(SIGXFSZ) | BIT(SIGPIPE))

struct shelter {
	unsigned blocked; /* signals that the host has blocked */
	unsigned pending; /* signals that were pending before, if the host has blocked any */
};

/* Blocks the signals in this thread only, and for one write, so that other threads are not affected. */
static struct shelter block_signals(void)
{
	struct shelter shelter = {.blocked = call_block(SIGNALS)};

	/* if the host has blocked neither, none can be pending, and the system call is not needed */
	if (shelter.blocked != 0) {
		shelter.pending = call_pending();
	}
	return shelter;
}

/*
 * Consumes the signal that the write raised before the mask is restored. A signal that was pending before belongs to
 * the host.
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
 * Checks the limit first, because the kernel writes up to the limit before it raises SIGXFSZ, which would leave a torn
 * file.
 */
int output_at(int fd, off_t offset, const void *bytes, size_t size)
{
	struct rlimit limit;
	struct shelter shelter;
	size_t done = 0;
	int error = 0;

	if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && (limit.rlim_cur < size || limit.rlim_cur - size < (rlim_t)offset)) {
		return -EFBIG;
	}
	shelter = block_signals();
	while (done < size && error == 0) {
		ssize_t put =
		    TEMP_FAILURE_RETRY(pwrite(fd, (const char *)bytes + done, size - done, offset + (off_t)done));

		if (put <= 0) {
			error = put < 0 ? -errno : -EIO;
		} else {
			done += (size_t)put;
		}
	}
	restore_signals(shelter, error);
	return error;
}

/* Makes one write, so that lines of several processes do not mix. */
int output_line(int fd, const void *bytes, size_t size)
{
	struct shelter shelter = block_signals();
	ssize_t put = TEMP_FAILURE_RETRY(write(fd, bytes, size));
	int error = put < 0 ? -errno : (size_t)put < size ? -EIO : 0;

	restore_signals(shelter, put < 0 ? error : 0);
	return error;
}

/* ftruncate() beyond the limit raises SIGXFSZ too. */
int output_cut(int fd, off_t size)
{
	struct shelter shelter = block_signals();
	struct stat found;
	int error = 0;

	if (fstat(fd, &found) < 0 || (found.st_size > size && ftruncate(fd, size) < 0)) {
		error = -errno;
	}
	restore_signals(shelter, error);
	return error;
}

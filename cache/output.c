/* SPDX-License-Identifier: MIT */
/*
 * Each write has four steps: block both signals, write, consume the signal that the write raised, restore the mask.
 */
#include "cache/output.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

struct shelter {
	sigset_t before;  /* signals that the host has blocked */
	sigset_t pending; /* signals that were pending before */
	bool had_any;     /* the host has blocked one of both; else none was pending, and `pending` is not set */
};

/* Blocks the signals in this thread only, and for one write, so that other threads are not affected. */
static void block_signals(struct shelter *ret_shelter)
{
	sigset_t both;

	(void)sigemptyset(&both);
	(void)sigaddset(&both, SIGXFSZ);
	(void)sigaddset(&both, SIGPIPE);
	(void)sigprocmask(SIG_BLOCK, &both, &ret_shelter->before);
	ret_shelter->had_any = sigismember(&ret_shelter->before, SIGXFSZ) || sigismember(&ret_shelter->before, SIGPIPE);
	if (ret_shelter->had_any) {
		(void)sigpending(&ret_shelter->pending);
	}
}

/*
 * Consumes the signal that the write raised before the mask is restored, unless another thread has received it in the
 * meantime. A signal that was pending before belongs to the host.
 */
static void restore_signals(const struct shelter *shelter, int error)
{
	int raised = error == -EFBIG ? SIGXFSZ : error == -EPIPE ? SIGPIPE : 0;
	const struct timespec at_once = {0, 0};
	sigset_t one;

	if (raised != 0 && !(shelter->had_any && sigismember(&shelter->pending, raised))) {
		(void)sigemptyset(&one);
		(void)sigaddset(&one, raised);
		(void)TEMP_FAILURE_RETRY(sigtimedwait(&one, NULL, &at_once));
	}
	(void)sigprocmask(SIG_SETMASK, &shelter->before, NULL);
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
	block_signals(&shelter);
	while (done < size && error == 0) {
		ssize_t put =
		    TEMP_FAILURE_RETRY(pwrite(fd, (const char *)bytes + done, size - done, offset + (off_t)done));

		if (put <= 0) {
			error = put < 0 ? -errno : -EIO;
		} else {
			done += (size_t)put;
		}
	}
	restore_signals(&shelter, error);
	return error;
}

/* Makes one write, so that lines of several processes do not mix. */
int output_line(int fd, const void *bytes, size_t size)
{
	struct shelter shelter;
	ssize_t put;
	int error;

	block_signals(&shelter);
	put = TEMP_FAILURE_RETRY(write(fd, bytes, size));
	error = put < 0 ? -errno : (size_t)put < size ? -EIO : 0;
	restore_signals(&shelter, put < 0 ? error : 0);
	return error;
}

/* ftruncate() beyond the limit raises SIGXFSZ too. */
int output_cut(int fd, off_t size)
{
	struct shelter shelter;
	struct stat found;
	int error = 0;

	block_signals(&shelter);
	if (fstat(fd, &found) < 0 || (found.st_size > size && ftruncate(fd, size) < 0)) {
		error = -errno;
	}
	restore_signals(&shelter, error);
	return error;
}

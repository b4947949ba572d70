/* SPDX-License-Identifier: MIT */
#include "interpose/nvjitlink/input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_LEAST 2 /* for a file of one byte the library reports another error than for one byte of data */
#define FILE_MAX   ((off_t)16 << 20)

/* Returns -EAGAIN if the file is not as long as stat said. */
static int read_all(int descriptor, char *bytes, size_t size)
{
	size_t at = 0;

	while (at <= size) {
		ssize_t got = read(descriptor, bytes + at, size + 1 - at);

		if (got < 0 && errno != EINTR) {
			return -errno;
		}
		if (got == 0) {
			break;
		}
		at += got > 0 ? (size_t)got : 0;
	}
	return at == size ? 0 : -EAGAIN;
}

int link_file_read(const char *path, void **ret_bytes, size_t *ret_size)
{
	char *bytes = NULL;
	struct stat status;
	int descriptor, result = -EINVAL;

	/* Checked before the open, because opening a FIFO or a device can have an effect. */
	if (stat(path, &status) != 0 || !S_ISREG(status.st_mode)) {
		return -EINVAL;
	}
	descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (descriptor < 0) {
		return -errno;
	}
	if (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size < FILE_LEAST) {
		goto out;
	}
	if (status.st_size > FILE_MAX) {
		result = -EFBIG;
		goto out;
	}
	bytes = malloc((size_t)status.st_size + 1);
	result = bytes ? read_all(descriptor, bytes, (size_t)status.st_size) : -ENOMEM;
	if (result == 0) {
		bytes[status.st_size] = '\0';
		*ret_bytes = bytes;
		*ret_size = (size_t)status.st_size;
		bytes = NULL;
	}
out:
	free(bytes);
	(void)close(descriptor);
	return result;
}

/* SPDX-License-Identifier: MIT */
#include "interpose/compile/host_data.h"

#include "cache/calls.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* Reads one byte more than the size from fstat(), to detect that the file has grown. -EAGAIN: its size has changed. */
static int read_all(int descriptor, char *bytes, size_t size)
{
	const ssize_t got = call_pread(descriptor, bytes, size + 1, 0);

	if (got < 0) {
		return -errno;
	}
	return (size_t)got == size ? 0 : -EAGAIN;
}

int host_data_file(const char *path, size_t least, size_t most, void **ret_bytes, size_t *ret_size)
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
	if (fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) && (size_t)status.st_size >= least) {
		const size_t size = (size_t)status.st_size;

		bytes = size <= most ? malloc(size + 1) : NULL;
		result = bytes ? read_all(descriptor, bytes, size) : size <= most ? -ENOMEM : -EFBIG;
	}
	(void)close(descriptor);
	if (result != 0) {
		free(bytes);
		return result;
	}
	bytes[status.st_size] = '\0';
	*ret_bytes = bytes;
	*ret_size = (size_t)status.st_size;
	return 0;
}

int host_data_digest(const char *path, struct key *ret_digest)
{
	struct span span = {NULL, 0};
	void *bytes = NULL;
	int error = host_data_file(path, 0, SIZE_MAX - 1, &bytes, &span.size);

	if (error == 0) {
		span.bytes = bytes;
		digest_key(&span, 1, ret_digest);
		free(bytes);
	}
	return error;
}

/* Reads through the kernel, so that unmapped memory causes an error, where a load instruction would crash the host. */
size_t host_data_memory(void *to, const void *from, size_t size)
{
	int memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
	size_t done = 0;
	ssize_t got = memory < 0 ? 0 : 1;

	while (done < size && (got > 0 || (got < 0 && errno == EINTR))) {
		got = pread(memory, (char *)to + done, size - done, (off_t)(uintptr_t)from + (off_t)done);
		done += got > 0 ? (size_t)got : 0;
	}
	if (memory >= 0) {
		(void)close(memory);
	}
	return done;
}

/* SPDX-License-Identifier: MIT */
#include "interpose/compile/host_data.h"

#include "cache/calls.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * Examines the path before the open, because opening a FIFO or a device can have an effect. Reads one byte more than
 * the file's size, to detect that it has changed since.
 */
int host_data_file(const char *path, size_t least, size_t most, void **ret_bytes, size_t *ret_size)
{
	struct stat status;
	char *bytes;
	size_t size;
	int descriptor, error;
	ssize_t got;

	if (stat(path, &status) != 0 || !S_ISREG(status.st_mode) || (size_t)status.st_size < least) {
		return -EINVAL;
	}
	size = (size_t)status.st_size;
	bytes = size <= most ? malloc(size + 1) : NULL;
	if (!bytes) {
		return size <= most ? -ENOMEM : -EFBIG;
	}
	descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	got = descriptor < 0 ? -1 : call_pread(descriptor, bytes, size + 1, 0);
	error = got < 0 ? -errno : (size_t)got == size ? 0 : -EAGAIN;
	call_close(descriptor);
	if (error != 0) {
		free(bytes);
		return error;
	}
	bytes[size] = '\0';
	*ret_bytes = bytes;
	*ret_size = size;
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
	ssize_t got = memory < 0 ? -1 : pread(memory, to, size, (off_t)(uintptr_t)from);

	call_close(memory);
	return got > 0 ? (size_t)got : 0;
}

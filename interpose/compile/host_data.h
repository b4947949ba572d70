/* SPDX-License-Identifier: MIT */
/*
 * host_data: reads what a host names: a file as a whole, and memory that the host may have freed
 *
 * Threads, fork, signals: no state.
 */
#ifndef INTERPOSE_COMPILE_HOST_DATA_H
#define INTERPOSE_COMPILE_HOST_DATA_H

#include "keygen/digest.h"

#include <stddef.h>

/*
 * Reads a file of at least `least` and at most `most` bytes into a block for free(); a NUL follows the last byte.
 * Errors: a negative errno; -EINVAL if the file is smaller or not regular, -EFBIG, -EAGAIN if it changed while it was
 * read.
 */
int host_data_file(const char *path, size_t least, size_t most, void **ret_bytes, size_t *ret_size);
/* The digest of its content. Errors as above. */
int host_data_digest(const char *path, struct key *ret_digest);
/* Copies the bytes of memory up to the first page that cannot be read. Returns their number. */
size_t host_data_memory(void *to, const void *from, size_t size);

#endif

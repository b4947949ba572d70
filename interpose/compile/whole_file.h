/* SPDX-License-Identifier: MIT */
/*
 * whole_file: reads a file as a whole
 *
 * Threads, fork, signals: no state.
 */
#ifndef INTERPOSE_COMPILE_WHOLE_FILE_H
#define INTERPOSE_COMPILE_WHOLE_FILE_H

#include "keygen/digest.h"

#include <stddef.h>

/*
 * Reads a file of at least `least` and at most `most` bytes into a block for free(); a NUL follows the last byte.
 * Errors: a negative errno; -EINVAL if the file is smaller or not regular, -EFBIG, -EAGAIN if it changed while it was
 * read.
 */
int whole_file_read(const char *path, size_t least, size_t most, void **ret_bytes, size_t *ret_size);
/* The digest of its content. Errors as above. */
int whole_file_digest(const char *path, struct key *ret_digest);

#endif

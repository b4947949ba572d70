/* SPDX-License-Identifier: MIT */
/*
 * file: the content of a file that the host names
 *
 * Calling sequence: link_file_read(), then free(). Threads, fork, signals: no state. Errors: a negative errno; -EINVAL for
 * what is no plain file or has nothing in it, -EFBIG, -EAGAIN where it changed meanwhile.
 */
#ifndef INTERPOSE_NVJITLINK_FILE_H
#define INTERPOSE_NVJITLINK_FILE_H

#include <stddef.h>

/* With a NUL behind the last byte. */
int link_file_read(const char *path, void **ret_bytes, size_t *ret_size);

#endif

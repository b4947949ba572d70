/* SPDX-License-Identifier: MIT */
/*
 * output: every byte that we write into a file or a stream of the host's process
 *
 * A write at or past RLIMIT_FSIZE raises SIGXFSZ, one into a pipe that nobody reads SIGPIPE, and both end a host that
 * never asked for them. The limit may change at any moment (setrlimit in another thread, prlimit from outside), so that
 * looking at it beforehand settles nothing: both signals are blocked in this thread for the write, and one that it
 * raised, which goes to this thread, is taken back. What was pending before is the host's and stays. Nothing else of
 * ours may call write, pwrite, ftruncate and their like; a test reads the sources for that.
 *
 * Errors: negative errno values.
 */
#ifndef CACHE_OUTPUT_H
#define CACHE_OUTPUT_H

#include <stddef.h>
#include <sys/types.h>

/*
 * All of it at that offset of a file, or an error. -EFBIG: past RLIMIT_FSIZE; that is seen beforehand, unless the limit
 * moves just then, and nothing is written.
 */
int output_at(int fd, off_t offset, const void *bytes, size_t size);
/* One write, where the descriptor stands; what does not go is lost. */
int output_line(int fd, const void *bytes, size_t size);
/* The file ends there; never makes it longer. */
int output_cut(int fd, off_t size);

#endif

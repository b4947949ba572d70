/* SPDX-License-Identifier: MIT */
/*
 * output: writes to files and streams without killing the host by a signal
 *
 * A write beyond RLIMIT_FSIZE raises SIGXFSZ, and a write to a pipe without a reader raises SIGPIPE; both would kill
 * the host. The limit may change at any moment (setrlimit() in another thread, prlimit() from outside), so checking it
 * beforehand is not enough. Therefore both signals are blocked in this thread during the write, and a signal that the
 * write raised, which is pending for this thread, is consumed. Signals that were pending before stay pending. No other
 * code of the library may call write(), pwrite(), ftruncate() and the like; a test checks the sources for that.
 *
 * Errors: negative errno values. Threads: any.
 */
#ifndef CACHE_OUTPUT_H
#define CACHE_OUTPUT_H

#include <stddef.h>
#include <sys/types.h>

/*
 * Writes all bytes at `offset` of a file, or returns an error. -EFBIG: RLIMIT_FSIZE would be exceeded, and nothing was
 * written (unless the limit changed during the call).
 */
int output_at(int fd, off_t offset, const void *bytes, size_t size);
/* Makes one write() at the file position. -EIO: only a part was written. */
int output_line(int fd, const void *bytes, size_t size);
/* Truncates a file to `size` bytes. A shorter file does not change. */
int output_cut(int fd, off_t size);

#endif

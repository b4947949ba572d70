/* SPDX-License-Identifier: MIT */
/*
 * output: every write to a file or stream in the host's process
 *
 * A write beyond RLIMIT_FSIZE raises SIGXFSZ, one into a pipe without a reader SIGPIPE, and both would end the host.
 * The limit may change at any moment (setrlimit() in another thread, prlimit() from outside), so checking it beforehand
 * is not enough: both signals are blocked in this thread during the write, and a signal that the write raised, which
 * goes to this thread, is taken back. Signals that were pending before stay. Nothing else of ours may call write(),
 * pwrite(), ftruncate() and the like; a test checks the sources for that.
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

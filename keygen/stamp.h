/* SPDX-License-Identifier: MIT */
/*
 * stamp: what identifies a file and tells whether it changed
 *
 * Purpose: one comparison of stamps, one rule for when equal times mean equal content, one clock for both.
 *
 * stamp_now() is the clock that the kernel stamps files with, asked of the kernel itself: the C library's functions may
 * have been replaced by others that tell another time (libfaketime), which no file on the disk knows of.
 *
 * Errors: stamp_now() gives INT64_MIN where there is no clock: then nothing is settled. stamp_look() gives 0 or an
 * errno.
 */
#ifndef KEYGEN_STAMP_H
#define KEYGEN_STAMP_H

#include <stdbool.h>
#include <stdint.h>

struct stat;

/* Zero where the file is absent. */
struct file_stamp {
	uint64_t device;
	uint64_t inode;
	uint64_t size;
	int64_t mtime_ns;
	int64_t ctime_ns;
	uint32_t mode; /* st_mode */
};

void file_stamp_from(const struct stat *stat, struct file_stamp *ret_stamp);
bool file_stamp_same(const struct file_stamp *one, const struct file_stamp *other);

/* What the kernel stamps files with, and time(), are a tick late at most: 10 ms (HZ=100), and as much for safety. */
#define STAMP_LATE_NS INT64_C(20000000)

int64_t stamp_now(void);
/*
 * Racily clean: a file whose times are not older than the moment at which it was read can change again without them
 * changing. Are both older than `read_ns`, by what the clock or the file system may be behind?
 */
bool file_stamp_settled(const struct file_stamp *stamp, int64_t read_ns);

/*
 * A stat that follows links: device, inode, mode, owner, size, mtime and ctime as the server of a network file system
 * has them. `ret_mount`: the mount's number, which never comes back until the next boot; 0 where the kernel (before
 * 6.8) has none.
 */
int stamp_look(int directory, const char *path, struct stat *ret_stat, uint64_t *ret_mount);

#endif

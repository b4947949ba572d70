/* SPDX-License-Identifier: MIT */
/*
 * stamp: what identifies a file and shows whether it changed
 *
 * Purpose: compares stamps, and decides when equal times mean equal content.
 *
 * stamp_now() reads the clock with which the kernel stamps files, directly from the kernel: a preload (libfaketime) may
 * have replaced the C library's functions with ones that report another time.
 *
 * Errors: stamp_now() returns INT64_MIN if there is no clock; then no stamp is settled. stamp_look() returns 0 or an
 * errno.
 */
#ifndef KEYGEN_STAMP_H
#define KEYGEN_STAMP_H

#include <stdbool.h>
#include <stdint.h>

struct stat;

/* All zero if the file is absent. */
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

/* File times and time() lag at most one clock tick, 10 ms (HZ=100), behind the clock. Doubled for safety. */
#define STAMP_LATE_NS INT64_C(20000000)

int64_t stamp_now(void);
/*
 * Racily clean: a file whose times are not older than the moment at which it was read can change again without a
 * change of its times. Returns true if both times are older than `read_ns` by more than the granularity of clock and
 * file system.
 */
bool file_stamp_settled(const struct file_stamp *stamp, int64_t read_ns);
/*
 * Returns true if a write since `since_ns` may have given the file its times: a further write may then leave them as
 * they are. A write now cannot give a time in the future.
 */
bool file_stamp_racy(const struct file_stamp *stamp, int64_t since_ns);

/*
 * Stats the path and follows links. On a network file system the attributes are fetched from the server. `ret_mount`:
 * the number of the mount, unique until the next boot; 0 if the kernel (before 6.8) has none.
 */
int stamp_look(int directory, const char *path, struct stat *ret_stat, uint64_t *ret_mount);

#endif

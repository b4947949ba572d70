/* SPDX-License-Identifier: MIT */
/*
 * stamp: what identifies a file and shows whether it changed
 *
 * Purpose: compares stamps, decides when equal times mean equal content, and identifies the mount of a file by a value
 * that is never reused.
 *
 * stamp_now() reads the clock with which the kernel stamps files, directly from the kernel: a preload (libfaketime) may
 * have replaced the C library's functions with ones that report another time.
 *
 * Times and inode numbers identify content only within one mount of one file system whose kernel changes ctime at every
 * change. Device numbers are reused: another image in the same loop device, another disk or another boot can show other
 * content under an equal stamp. So a stamp is accepted only if the identity of its mount is equal too:
 *
 *   MOUNT_SUPERBLOCK  ext2/3/4, xfs, f2fs: the inode number of the kernel's directory for this mounted file system
 *                     (/sys/fs/ext4/<name>), which is new at each mount of the device and unique until the next boot
 *   MOUNT_MEMORY      tmpfs, ramfs: this kernel set every time in it, because no image can be mounted there
 *   MOUNT_NUMBERED    other types whose ctime is reliable, or that are read-only while mounted: the number of the
 *                     mount, which the kernel reports from 6.8 on
 *   MOUNT_UNKNOWN     all others (FUSE, vfat, 9p, procfs, sysfs, unlisted types): no stamp is accepted, content is
 *                     compared
 *
 * An identity is valid only on one boot (stamp_boot()).
 *
 * Errors: stamp_now() returns INT64_MIN if there is no clock; then no stamp is settled. stamp_look() returns 0 or an
 * errno. A mount that cannot be identified is MOUNT_UNKNOWN.
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
int stamp_look(int directory, const char *path, struct file_stamp *ret_stamp, uint64_t *ret_mount);

enum mount_kind { MOUNT_UNKNOWN, MOUNT_SUPERBLOCK, MOUNT_NUMBERED, MOUNT_MEMORY };

struct mount {
	uint64_t device;
	uint64_t number;
	uint32_t kind; /* enum mount_kind */
	uint32_t zero;
};

/* Identifies a mount. `path`: any file in it; `device` and `number` as stamp_look() returned them for it. */
void mount_identify(const char *path, uint64_t device, uint64_t number, struct mount *ret_mount);
#define STAMP_BOOT_BYTES 36

/* Reads the boot id. Returns false if it cannot be read; then no stamp is accepted. */
bool stamp_boot(char ret_boot[STAMP_BOOT_BYTES]);

#endif

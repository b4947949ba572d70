/* SPDX-License-Identifier: MIT */
/*
 * mount: which mount of which file system a file lies in, by a name that does not come back
 *
 * Purpose: times and inode numbers identify content only within one life of one file system whose kernel moves ctime at
 * every change. Device numbers are reused: another image in the same loop device, another disk or another boot can show
 * other content under an equal stamp. So a stamp is believed only together with the identity of what it was seen in:
 *
 *   MOUNT_SUPERBLOCK  ext2/3/4, xfs, f2fs: the inode number of the kernel's own directory for this life of the file
 *                     system (/sys/fs/ext4/<name>): made at each mount of the device, never given twice until the next boot
 *   MOUNT_MEMORY      tmpfs, ramfs: every time in it was set by this kernel, as no image can be mounted there
 *   MOUNT_NUMBERED    others whose ctime can be relied upon, or that cannot be changed while they are mounted: the
 *                     number of the mount itself, which the kernel tells from 6.8 on
 *   MOUNT_UNKNOWN     all others (FUSE, vfat, 9p, procfs, sysfs, what nobody has thought of): content decides
 *
 * Each is meaningful on one boot alone: mount_boot().
 *
 * Errors: none; what cannot be told is MOUNT_UNKNOWN, or no boot. State: mount_boot() keeps what it
 * has read once, which is as true in a child.
 */
#ifndef KEYGEN_MOUNT_H
#define KEYGEN_MOUNT_H

#include <stdbool.h>
#include <stdint.h>

#define MOUNT_BOOT_BYTES 16

enum mount_kind { MOUNT_UNKNOWN, MOUNT_SUPERBLOCK, MOUNT_NUMBERED, MOUNT_MEMORY };

struct mount {
	uint64_t device;
	uint64_t number;
	uint32_t kind; /* enum mount_kind */
	uint32_t zero;
};

bool mount_same(const struct mount *one, const struct mount *other);
/* `path`: any file in it; `device` and `number` as stamp_look() gave them for it. */
void mount_identify(const char *path, uint64_t device, uint64_t number, struct mount *ret_mount);
/* Does each entry that comes or goes move its directory's times at once, as this kernel tells them? */
bool mount_times_entries(const char *path);
/* The kernel's name for this boot; false where it cannot be had: then no stamp can be believed. */
bool mount_boot(uint8_t ret_boot[MOUNT_BOOT_BYTES]);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * mount: identifies the mount of a file by a value that is never reused
 *
 * Purpose: times and inode numbers identify content only within one mount of one file system whose kernel changes
 * ctime at every change. Device numbers are reused: another image in the same loop device, another disk or another
 * boot can show other content under an equal stamp. So a stamp is accepted only if the
 * identity of its mount is equal too:
 *
 *   MOUNT_SUPERBLOCK  ext2/3/4, xfs, f2fs: the inode number of the kernel's directory for this mounted file system
 *                     (/sys/fs/ext4/<name>), which is new at each mount of the device and unique until the next boot
 *   MOUNT_MEMORY      tmpfs, ramfs: this kernel set every time in it, because no image can be mounted there
 *   MOUNT_NUMBERED    other types whose ctime is reliable, or that are read-only while mounted: the number of the
 *                     mount, which the kernel reports from 6.8 on
 *   MOUNT_UNKNOWN     all others (FUSE, vfat, 9p, procfs, sysfs, unlisted types): no stamp is accepted, content is
 *                     compared
 *
 * An identity is valid only on one boot (mount_boot()).
 *
 * Errors: none; on failure a mount is MOUNT_UNKNOWN, or the boot is unknown. State: mount_boot() reads the boot id
 * once, which is valid in a forked child too.
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

/* Identifies a mount. `path`: any file in it; `device` and `number` as stamp_look() returned them for it. */
void mount_identify(const char *path, uint64_t device, uint64_t number, struct mount *ret_mount);
/* Reads the boot id. Returns false if it cannot be read; then no stamp is accepted. */
bool mount_boot(uint8_t ret_boot[MOUNT_BOOT_BYTES]);

#endif

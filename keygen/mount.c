/* SPDX-License-Identifier: MIT */
/*
 * File systems are listed by type, because no system call tells whether ctime is reliable. A type that is not listed is
 * MOUNT_UNKNOWN.
 */
#include "keygen/mount.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#define NAME_BYTES 256
#define SYSFS      0x62656572U

/* Types as in f_type of statfs(2); <linux/magic.h> has only some of them. */
static const struct known_type {
	uint32_t type;
	enum mount_kind kind;
	const char *kernel; /* name of its directory in /sys/fs, for MOUNT_SUPERBLOCK */
} known_types[] = {
    {0x0000ef53, MOUNT_SUPERBLOCK, "ext4"}, /* ext2 and ext3 too */
    {0x58465342, MOUNT_SUPERBLOCK, "xfs"},  {0xf2f52010, MOUNT_SUPERBLOCK, "f2fs"},
    {0x01021994, MOUNT_MEMORY, NULL},   /* tmpfs */
    {0x858458f6, MOUNT_MEMORY, NULL},   /* ramfs */
    {0x9123683e, MOUNT_NUMBERED, NULL}, /* btrfs */
    {0xca451a4e, MOUNT_NUMBERED, NULL}, /* bcachefs */
    {0x2fc12fc1, MOUNT_NUMBERED, NULL}, /* zfs */
    {0x794c7630, MOUNT_NUMBERED, NULL}, /* overlayfs */
    {0x73717368, MOUNT_NUMBERED, NULL}, /* squashfs */
    {0xe0f5e1e2, MOUNT_NUMBERED, NULL}, /* erofs */
    {0x00009660, MOUNT_NUMBERED, NULL}, /* iso9660 */
    {0x00006969, MOUNT_NUMBERED, NULL}, /* nfs */
    {0x0bd00bd0, MOUNT_NUMBERED, NULL}, /* lustre */
    {0x00c36400, MOUNT_NUMBERED, NULL}, /* ceph */
    {0x47504653, MOUNT_NUMBERED, NULL}, /* gpfs */
    {0x19830326, MOUNT_NUMBERED, NULL}, /* beegfs */
};

/* Returns the type of the file system that the path is on, or NULL. */
static const struct known_type *find_type(const char *path, struct statfs *ret_system)
{
	if (statfs(path, ret_system) != 0) {
		return NULL;
	}
	for (size_t i = 0; i < sizeof(known_types) / sizeof(known_types[0]); i++) {
		if ((uint32_t)ret_system->f_type == known_types[i].type) {
			return &known_types[i];
		}
	}
	return NULL;
}

/* Returns the kernel's name of a block device: the last component of the target of its link in /sys/dev/block. */
static bool device_name(uint64_t device, char ret_name[NAME_BYTES])
{
	char link[64];
	char target[1024];
	const char *slash;
	ssize_t size;

	(void)snprintf(link, sizeof(link), "/sys/dev/block/%u:%u", major(device), minor(device));
	size = readlink(link, target, sizeof(target) - 1);
	if (size <= 0) {
		return false;
	}
	target[size] = '\0';
	slash = strrchr(target, '/');
	if (!slash || strlen(slash + 1) >= NAME_BYTES) {
		return false;
	}
	strcpy(ret_name, slash + 1); /* NOLINT(clang-analyzer-security.insecureAPI.strcpy): its length is known */
	return true;
}

/*
 * Returns the inode number of the kernel's directory of a mounted file system, which is never reused (kernfs counts to
 * 2^64); 0 if it is not known.
 */
static uint64_t superblock_number(const char *kernel, uint64_t device)
{
	char name[NAME_BYTES];
	char path[NAME_BYTES + 32];
	struct statfs system;
	struct stat found;

	if (!device_name(device, name)) {
		return 0;
	}
	(void)snprintf(path, sizeof(path), "/sys/fs/%s/%s", kernel, name);
	if (statfs(path, &system) != 0 || (uint32_t)system.f_type != SYSFS || stat(path, &found) != 0) {
		return 0;
	}
	return (uint64_t)found.st_ino;
}

void mount_identify(const char *path, uint64_t device, uint64_t number, struct mount *ret_mount)
{
	struct statfs system;
	const struct known_type *type = find_type(path, &system);
	enum mount_kind kind = type ? type->kind : MOUNT_UNKNOWN;
	uint64_t name = 0;

	if (kind == MOUNT_SUPERBLOCK) {
		name = superblock_number(type->kernel, device);
		kind = name ? kind : MOUNT_NUMBERED;
	} else if (kind == MOUNT_MEMORY) {
		memcpy(&name, &system.f_fsid, sizeof(name)); /* random for each mount from Linux 6.6 on */
	}
	if (kind == MOUNT_NUMBERED) {
		name = number;
		kind = name ? kind : MOUNT_UNKNOWN;
	}
	*ret_mount = (struct mount){.device = device, .number = name, .kind = kind};
}

/* Reads 32 hexadecimal digits, written in groups of 8-4-4-4-12. */
static bool parse_boot(const char *text, uint8_t ret_boot[MOUNT_BOOT_BYTES])
{
	static const char digits[] = "0123456789abcdef";
	size_t count = 0;

	for (; *text && *text != '\n'; text++) {
		const char *digit = strchr(digits, *text);

		if (*text == '-') {
			continue;
		}
		if (!digit || count == 2 * (size_t)MOUNT_BOOT_BYTES) {
			return false;
		}
		ret_boot[count / 2] = (uint8_t)(ret_boot[count / 2] << 4 | (digit - digits));
		count++;
	}
	return count == 2 * (size_t)MOUNT_BOOT_BYTES;
}

/* Reads the boot id. The boot time would not do, because it changes when the clock is set. */
static bool read_boot(uint8_t ret_boot[MOUNT_BOOT_BYTES])
{
	char text[64] = "";
	int file = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	ssize_t size;

	if (file < 0) {
		return false;
	}
	size = read(file, text, sizeof(text) - 1);
	(void)close(file);
	return size > 0 && parse_boot(text, ret_boot);
}

bool mount_boot(uint8_t ret_boot[MOUNT_BOOT_BYTES])
{
	enum { NOT_YET, BEING_KEPT, KEPT, NOT_KNOWN };
	static uint8_t kept[MOUNT_BOOT_BYTES];
	static _Atomic int state;
	int seen = atomic_load_explicit(&state, memory_order_acquire);
	uint8_t boot[MOUNT_BOOT_BYTES] = {0};
	bool known;

	if (seen == KEPT) {
		memcpy(ret_boot, kept, sizeof(kept));
	}
	if (seen == KEPT || seen == NOT_KNOWN) {
		return seen == KEPT;
	}
	/*
	 * While one thread stores the boot id, other threads read it themselves: the value is the same. So no thread
	 * waits, and neither does a child that was forked meanwhile.
	 */
	known = read_boot(boot);
	if (seen == NOT_YET && atomic_compare_exchange_strong(&state, &seen, BEING_KEPT)) {
		memcpy(kept, boot, sizeof(kept));
		atomic_store_explicit(&state, known ? KEPT : NOT_KNOWN, memory_order_release);
	}
	if (known) {
		memcpy(ret_boot, boot, sizeof(boot));
	}
	return known;
}

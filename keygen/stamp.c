/* SPDX-License-Identifier: MIT */
/*
 * The clock is read directly from the kernel, because a preload could change the answer of libc. Paths are looked up
 * through libc, because a preload may redirect the compiler's look-ups, and these must be redirected too. File systems
 * are listed by type, because no system call tells whether ctime is reliable. A type that is not listed is
 * MOUNT_UNKNOWN.
 */
#include "keygen/stamp.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#ifndef STATX_BASIC_STATS
#include <linux/stat.h>
#endif
#ifndef AT_STATX_FORCE_SYNC
#define AT_STATX_FORCE_SYNC 0x2000 /* from <linux/fcntl.h>, which conflicts with <fcntl.h> */
#endif
/* From glibc 2.28; weak, because the library also runs with 2.17. */
int statx(int directory, const char *restrict path, int flags, unsigned mask, struct statx *restrict ret_found);
#pragma weak statx

#define SECOND_NS INT64_C(1000000000)
#define WHOLE_NS  (2 * SECOND_NS) /* some file systems store whole seconds, FAT two */

/* Kernel headers before 6.8 lack the bit, and before 5.8 the field. */
#define MOUNT_NUMBER_BIT 0x4000U /* STATX_MNT_ID_UNIQUE */
#define MOUNT_NUMBER_AT  0x90    /* stx_mnt_id */

/* On some file systems (btrfs) seconds may be any 64-bit number; a time that does not fit is clamped. */
static int64_t nanoseconds_of(int64_t seconds, int64_t nanoseconds)
{
	int64_t whole = 0;
	int64_t sum;

	if (__builtin_mul_overflow(seconds, SECOND_NS, &whole) || __builtin_add_overflow(whole, nanoseconds, &sum)) {
		return seconds < 0 ? INT64_MIN : INT64_MAX;
	}
	return sum;
}

void file_stamp_from(const struct stat *stat, struct file_stamp *ret_stamp)
{
	*ret_stamp = (struct file_stamp){
	    .device = (uint64_t)stat->st_dev,
	    .inode = (uint64_t)stat->st_ino,
	    .size = (uint64_t)stat->st_size,
	    .mtime_ns = nanoseconds_of(stat->st_mtim.tv_sec, stat->st_mtim.tv_nsec),
	    .ctime_ns = nanoseconds_of(stat->st_ctim.tv_sec, stat->st_ctim.tv_nsec),
	    .mode = (uint32_t)stat->st_mode,
	};
}

bool file_stamp_same(const struct file_stamp *one, const struct file_stamp *other)
{
	return one->device == other->device && one->inode == other->inode && one->size == other->size &&
	       one->mtime_ns == other->mtime_ns && one->ctime_ns == other->ctime_ns && one->mode == other->mode;
}

static int64_t slack_of(int64_t time_ns)
{
	return time_ns % SECOND_NS == 0 ? WHOLE_NS : STAMP_LATE_NS;
}

/*
 * Returns true if the time is older than the reading by more than the clock's granularity. Two writes within the
 * granularity give a file the same times ("racily clean" in git).
 */
static bool is_settled(int64_t time_ns, int64_t read_ns)
{
	int64_t slack = slack_of(time_ns);

	return read_ns > INT64_MIN + slack && time_ns < read_ns - slack;
}

bool file_stamp_settled(const struct file_stamp *stamp, int64_t read_ns)
{
	return is_settled(stamp->mtime_ns, read_ns) && is_settled(stamp->ctime_ns, read_ns);
}

/* Returns true if a write between the two moments may have given this time. */
static bool may_be_between(int64_t time_ns, int64_t since_ns, int64_t until_ns)
{
	return !is_settled(time_ns, since_ns) && time_ns - slack_of(time_ns) <= until_ns;
}

bool file_stamp_racy(const struct file_stamp *stamp, int64_t since_ns)
{
	int64_t now;

	if (file_stamp_settled(stamp, since_ns)) {
		return false;
	}
	now = stamp_now();
	return since_ns == INT64_MIN || now == INT64_MIN || may_be_between(stamp->mtime_ns, since_ns, now) ||
	       may_be_between(stamp->ctime_ns, since_ns, now);
}

/* Uses neither clock_gettime() nor syscall() of the C library, because libfaketime replaces both. */
static long ask_clock(clockid_t clock, struct timespec *ret_time)
{
#if defined(__x86_64__) && defined(__LP64__)
	long result;

	__asm__ volatile("syscall"
	                 : "=a"(result)
	                 : "0"((long)SYS_clock_gettime), "D"((long)clock), "S"(ret_time)
	                 : "rcx", "r11", "memory");
	return result;
#elif defined(__aarch64__)
	register long number __asm__("x8") = SYS_clock_gettime;
	register long first __asm__("x0") = clock;
	register struct timespec *second __asm__("x1") = ret_time;

	__asm__ volatile("svc 0" : "+r"(first) : "r"(number), "r"(second) : "memory");
	return first;
#else
	return syscall(SYS_clock_gettime, clock, ret_time);
#endif
}

int64_t stamp_now(void)
{
	struct timespec now = {0};

	return ask_clock(CLOCK_REALTIME, &now) == 0 ? nanoseconds_of(now.tv_sec, now.tv_nsec) : INT64_MIN;
}

/*
 * AT_STATX_FORCE_SYNC: a network file system may answer from attributes that are a minute old, while the compiler's
 * open would ask the server. On other file systems it costs nothing. AT_NO_AUTOMOUNT: stat() does not trigger an
 * automount, but statx() does by default. Kernels before 4.11 have no statx, and some sandboxes refuse it. statx is
 * called by name, not by number, because a preload that redirects paths replaces the function (path_functions in
 * interpose/watch/watch.h).
 */
static int look_once(int directory, const char *path, struct file_stamp *ret_stamp, uint64_t *ret_mount)
{
	struct statx found;
	struct stat stat;

	*ret_mount = 0;
	if (statx && statx(directory, path, AT_STATX_FORCE_SYNC | AT_NO_AUTOMOUNT, STATX_BASIC_STATS | MOUNT_NUMBER_BIT,
	                   &found) == 0) {
		*ret_stamp = (struct file_stamp){
		    .device = makedev(found.stx_dev_major, found.stx_dev_minor),
		    .inode = found.stx_ino,
		    .size = found.stx_size,
		    .mtime_ns = nanoseconds_of(found.stx_mtime.tv_sec, found.stx_mtime.tv_nsec),
		    .ctime_ns = nanoseconds_of(found.stx_ctime.tv_sec, found.stx_ctime.tv_nsec),
		    .mode = found.stx_mode,
		};
		if (found.stx_mask & MOUNT_NUMBER_BIT) {
			memcpy(ret_mount, (const uint8_t *)&found + MOUNT_NUMBER_AT, sizeof(*ret_mount));
		}
		return 0;
	}
	if (statx && errno != ENOSYS && errno != EPERM && errno != EINVAL) {
		return -1;
	}
	if (fstatat(directory, path, &stat, 0) != 0) {
		return -1;
	}
	file_stamp_from(&stat, ret_stamp);
	return 0;
}

int stamp_look(int directory, const char *path, struct file_stamp *ret_stamp, uint64_t *ret_mount)
{
	while (look_once(directory, path, ret_stamp, ret_mount) != 0) {
		if (errno != EINTR) {
			return errno;
		}
	}
	return 0;
}

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

/* The boot time would not do, because it changes when the clock is set. */
bool stamp_boot(char ret_boot[STAMP_BOOT_BYTES])
{
	int file = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	ssize_t size = file < 0 ? -1 : read(file, ret_boot, STAMP_BOOT_BYTES);

	if (file >= 0) {
		(void)close(file);
	}
	return size == STAMP_BOOT_BYTES;
}

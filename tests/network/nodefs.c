/* SPDX-License-Identifier: MIT */
/*
 * nodefs: one node's view of a directory, as a network file system would give it (FUSE)
 *
 * usage: nodefs DIRECTORY MOUNTPOINT RULES      mounts, then serves in the background until it is unmounted
 *
 * Two of these over one directory are two nodes: each has its own caches in the kernel, and its locks are its own.
 * Rules (rules.h) for the operations open, create, getattr, read, write, flush, rename, unlink, mkdir, readdir,
 * utimens, chmod, lock; and cache=SECONDS   names, absences and attributes are believed for that long, whatever the
 * other node did silly           a file that is open here is not removed but renamed to .nfs<number>, until it is
 * closed noatime         times of access are not kept coarse          times are whole seconds delay=US        every
 * operation takes that long
 */
#define FUSE_USE_VERSION 31
#include "tests/network/rules.h"

#include <dirent.h>
#include <fcntl.h>
#include <fuse.h>
#include <limits.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define OPEN_MAX_FILES 4096

static int top;
static bool is_silly;
static bool keeps_atime;
static bool is_coarse;
static unsigned delay;

/* Files that are open here, by inode, and the name that they got when they were removed. */
static struct open_file {
	ino_t inode;
	unsigned users;
	char name[PATH_MAX];
} open_files[OPEN_MAX_FILES];
static pthread_mutex_t open_lock = PTHREAD_MUTEX_INITIALIZER;

static const char *at(const char *path)
{
	return path[1] ? path + 1 : ".";
}

static int begin(const char *operation)
{
	if (delay) {
		usleep(delay);
	}
	return -rules_error(operation);
}

static void trim(struct stat *found)
{
	if (is_coarse) {
		found->st_atim.tv_nsec = found->st_mtim.tv_nsec = found->st_ctim.tv_nsec = 0;
	}
}

/* Returns the file of this inode, otherwise NULL, and in *ret_room one that is not used. */
static struct open_file *find_open(ino_t inode, struct open_file **ret_room)
{
	for (size_t i = 0; i < OPEN_MAX_FILES; i++) {
		if (open_files[i].users && open_files[i].inode == inode) {
			return &open_files[i];
		}
		if (!open_files[i].users) {
			*ret_room = &open_files[i];
		}
	}
	return NULL;
}

static int note_open(int file)
{
	struct stat found;
	struct open_file *open_file, *room = NULL;

	if (!is_silly || fstat(file, &found) < 0) {
		return file;
	}
	pthread_mutex_lock(&open_lock);
	open_file = find_open(found.st_ino, &room);
	if (open_file) {
		open_file->users++;
	} else if (room) {
		*room = (struct open_file){.inode = found.st_ino, .users = 1};
	}
	pthread_mutex_unlock(&open_lock);
	return file;
}

static void note_close(int file)
{
	struct stat found;
	struct open_file *open_file, *room;

	if (!is_silly || fstat(file, &found) < 0) {
		return;
	}
	pthread_mutex_lock(&open_lock);
	open_file = find_open(found.st_ino, &room);
	if (open_file && --open_file->users == 0 && open_file->name[0]) {
		(void)unlinkat(top, open_file->name, 0);
	}
	pthread_mutex_unlock(&open_lock);
}

/* True: the file is open here and has another name now. */
static bool hide(const char *path)
{
	const char *slash = strrchr(path, '/');
	struct open_file *file, *room;
	struct stat found;
	bool hidden = false;

	if (!is_silly || fstatat(top, at(path), &found, AT_SYMLINK_NOFOLLOW) < 0) {
		return false;
	}
	pthread_mutex_lock(&open_lock);
	file = find_open(found.st_ino, &room);
	if (file && file->name[0] == '\0') {
		(void)snprintf(file->name, sizeof(file->name), "%.*s/.nfs%024lx", (int)(slash - path), path,
		               (unsigned long)found.st_ino);
		memmove(file->name, at(file->name), strlen(at(file->name)) + 1);
		hidden = renameat(top, at(path), top, file->name) == 0;
	}
	pthread_mutex_unlock(&open_lock);
	return hidden;
}

static int node_getattr(const char *path, struct stat *found, struct fuse_file_info *info)
{
	int rc = begin("getattr");

	if (rc == 0 && (info ? fstat((int)info->fh, found) : fstatat(top, at(path), found, AT_SYMLINK_NOFOLLOW)) < 0) {
		rc = -errno;
	}
	if (rc == 0) {
		trim(found);
	}
	return rc;
}

static int opened(int rc, int file, struct fuse_file_info *info)
{
	if (file < 0) {
		return rc ? rc : -errno;
	}
	info->fh = (uint64_t)note_open(file);
	return 0;
}

static int node_open(const char *path, struct fuse_file_info *info)
{
	int rc = begin("open");
	int file = rc == 0 ? openat(top, at(path), (info->flags & ~O_NOFOLLOW) | O_CLOEXEC | O_NOATIME) : -1;

	return opened(rc, file, info);
}

static int node_create(const char *path, mode_t mode, struct fuse_file_info *info)
{
	int rc = begin("create");
	int file = rc == 0 ? openat(top, at(path), info->flags | O_CREAT | O_CLOEXEC, mode) : -1;

	return opened(rc, file, info);
}

static int node_read(const char *path, char *bytes, size_t size, off_t offset, struct fuse_file_info *info)
{
	int rc = begin("read");
	ssize_t done = rc == 0 ? pread((int)info->fh, bytes, size, offset) : rc;

	return done < 0 && rc == 0 ? -errno : (int)done;
}

static int node_write(const char *path, const char *bytes, size_t size, off_t offset, struct fuse_file_info *info)
{
	int rc = begin("write");
	ssize_t done = rc == 0 ? pwrite((int)info->fh, bytes, size, offset) : rc;

	return done < 0 && rc == 0 ? -errno : (int)done;
}

static int node_flush(const char *path, struct fuse_file_info *info)
{
	return begin("flush");
}

static int node_release(const char *path, struct fuse_file_info *info)
{
	note_close((int)info->fh);
	close((int)info->fh);
	return 0;
}

static int node_fsync(const char *path, int data, struct fuse_file_info *info)
{
	return fsync((int)info->fh) < 0 ? -errno : 0;
}

static int node_rename(const char *from, const char *to, unsigned flags)
{
	int rc = begin("rename");

	if (rc < 0 || flags) {
		return rc ? rc : -EINVAL;
	}
	(void)hide(to);
	return renameat(top, at(from), top, at(to)) < 0 ? -errno : 0;
}

static int node_unlink(const char *path)
{
	int rc = begin("unlink");

	if (rc < 0 || hide(path)) {
		return rc;
	}
	return unlinkat(top, at(path), 0) < 0 ? -errno : 0;
}

static int node_mkdir(const char *path, mode_t mode)
{
	int rc = begin("mkdir");

	return rc ? rc : mkdirat(top, at(path), mode) < 0 ? -errno : 0;
}

static int node_rmdir(const char *path)
{
	return unlinkat(top, at(path), AT_REMOVEDIR) < 0 ? -errno : 0;
}

static int node_chmod(const char *path, mode_t mode, struct fuse_file_info *info)
{
	int rc = begin("chmod");

	return rc ? rc : fchmodat(top, at(path), mode, 0) < 0 ? -errno : 0;
}

static int node_chown(const char *path, uid_t user, gid_t group, struct fuse_file_info *info)
{
	return fchownat(top, at(path), user, group, AT_SYMLINK_NOFOLLOW) < 0 ? -errno : 0;
}

static int node_truncate(const char *path, off_t size, struct fuse_file_info *info)
{
	int file = info ? (int)info->fh : openat(top, at(path), O_WRONLY | O_CLOEXEC);
	int rc = file < 0 || ftruncate(file, size) < 0 ? -errno : 0;

	if (!info && file >= 0) {
		close(file);
	}
	return rc;
}

static int node_utimens(const char *path, const struct timespec wanted[2], struct fuse_file_info *info)
{
	struct timespec times[2] = {wanted[0], wanted[1]};
	int rc = begin("utimens");

	if (!keeps_atime) {
		times[0].tv_nsec = UTIME_OMIT;
	}
	return rc ? rc : utimensat(top, at(path), times, AT_SYMLINK_NOFOLLOW) < 0 ? -errno : 0;
}

static int node_readdir(const char *path, void *buffer, fuse_fill_dir_t fill, off_t offset, struct fuse_file_info *info,
                        enum fuse_readdir_flags flags)
{
	int rc = begin("readdir");
	int place = rc == 0 ? openat(top, at(path), O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	DIR *names = place < 0 ? NULL : fdopendir(place);
	struct dirent *found;

	if (!names) {
		return rc ? rc : -errno;
	}
	while ((found = readdir(names)) != NULL) {
		struct stat some = {.st_ino = found->d_ino, .st_mode = (mode_t)found->d_type << 12};

		if (fill(buffer, found->d_name, &some, 0, 0)) {
			break;
		}
	}
	closedir(names);
	return 0;
}

static int node_lock(const char *path, struct fuse_file_info *info, int command, struct flock *range)
{
	return begin("lock");
}

static void *node_init(struct fuse_conn_info *connection, struct fuse_config *config)
{
	double seconds = (double)rules_value("cache", 0);

	config->use_ino = 1;
	config->hard_remove = 1; /* silly names are ours */
	config->entry_timeout = config->attr_timeout = config->negative_timeout = seconds;
	return NULL;
}

static struct fuse_operations operations = {
    .init = node_init,
    .getattr = node_getattr,
    .open = node_open,
    .create = node_create,
    .read = node_read,
    .write = node_write,
    .flush = node_flush,
    .release = node_release,
    .fsync = node_fsync,
    .rename = node_rename,
    .unlink = node_unlink,
    .mkdir = node_mkdir,
    .rmdir = node_rmdir,
    .chmod = node_chmod,
    .chown = node_chown,
    .truncate = node_truncate,
    .utimens = node_utimens,
    .readdir = node_readdir,
};

int main(int argc, char **argv)
{
	char *words[] = {argv[0], argc == 4 ? argv[2] : NULL, (char *)"-o", (char *)"allow_other,default_permissions",
	                 NULL};

	if (argc != 4 || !rules_read(argv[3])) {
		fprintf(stderr, "usage: nodefs DIRECTORY MOUNTPOINT RULES\n");
		return 2;
	}
	top = open(argv[1], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (top < 0) {
		perror(argv[1]);
		return 1;
	}
	is_silly = rules_find("silly") != NULL;
	keeps_atime = rules_find("noatime") == NULL;
	is_coarse = rules_find("coarse") != NULL;
	delay = (unsigned)rules_value("delay", 0);
	if (rules_find("lock")) {
		operations.lock = node_lock; /* without it the kernel keeps locks, for this node alone */
	}
	(void)umask(0);
	return fuse_main(4, words, &operations, NULL);
}

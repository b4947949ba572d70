/* SPDX-License-Identifier: MIT */
/*
 * Decisions depend only on the owner, the group and the mode that fstat() returned, because a path may lead elsewhere
 * the next time. The user and the groups of the process are read at each call, because hosts change them.
 */
#include "cache/trust.h"

#include "cache/calls.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#define GROUPS_MAX 1024
/* The id that the kernel shows for ids without a mapping in this user namespace (the default of kernel.overflowuid). */
#define OVERFLOW_ID 65534

/*
 * Reads the groups at each call, because hosts drop them (setgroups) between calls. group_member() of glibc takes 256
 * KiB of the stack, which not every thread has.
 */
static bool in_group(gid_t group)
{
	gid_t groups[GROUPS_MAX];
	const int count = getgroups(GROUPS_MAX, groups);
	bool found = group == getegid();

	for (int i = 0; i < count; i++) {
		found |= groups[i] == group;
	}
	return found;
}

/* Reads the user at each call, because hosts change it. Root's files are trusted: root can change ours anyway. */
bool trust_owner(const struct stat *found)
{
	return found->st_uid == 0 || (found->st_uid == geteuid() && found->st_uid != OVERFLOW_ID);
}

/* Most caches are private: for them only the mode and the owner are compared. */
bool trust_found(bool shared, int parent, const struct stat *found)
{
	struct stat above = *found;
	mode_t open;

	if (found->st_mode & S_IWOTH) {
		return false;
	}
	if (!shared) {
		return !(found->st_mode & S_IWGRP) && trust_owner(found);
	}
	if (parent != AT_FDCWD && fstat(parent, &above) < 0) {
		return false;
	}
	if (found->st_gid == above.st_gid && found->st_gid != OVERFLOW_ID) {
		return trust_owner(found) || in_group(found->st_gid);
	}
	open = S_ISDIR(found->st_mode) ? S_IRWXG | S_IRWXO : S_IWGRP;
	return !(found->st_mode & open) && trust_owner(found);
}

/*
 * A new file has the right group at once only in a setgid directory, or if that group is our own. Otherwise it is not
 * open to the group until join_group() has changed its group.
 */
mode_t trust_first_mode(bool shared, int parent, mode_t all)
{
	mode_t mode = S_IRWXU;
	struct stat above;

	if (shared && parent == AT_FDCWD) {
		mode |= S_IRWXG;
	} else if (shared && fstat(parent, &above) == 0 && ((above.st_mode & S_ISGID) || above.st_gid == getegid())) {
		mode |= above.st_mode & S_IRWXG;
	}
	return mode & all;
}

/*
 * Gives a new file the group of `parent`. Returns the bits that the group has on `parent`, or 0 if that failed. The
 * group of the root is not changed, because the user who created the root has chosen it.
 */
static mode_t join_group(int parent, int made, const struct stat *found)
{
	struct stat above;
	struct stat after;

	if (parent == AT_FDCWD) {
		return S_IRWXG;
	}
	if (fstat(parent, &above) < 0) {
		return 0;
	}
	/* fchown(2) refuses O_PATH. Checked again, because some file systems report success and do nothing. */
	if (found->st_gid != above.st_gid && (fchownat(made, "", (uid_t)-1, above.st_gid, AT_EMPTY_PATH) < 0 ||
	                                      fstat(made, &after) < 0 || after.st_gid != above.st_gid)) {
		return 0;
	}
	return above.st_mode & S_IRWXG;
}

static bool is_empty(DIR *names)
{
	const struct dirent *found;

	errno = 0;
	do {
		found = readdir(names);
	} while (found && (strcmp(found->d_name, ".") == 0 || strcmp(found->d_name, "..") == 0));
	return !found && errno == 0;
}

/*
 * Opens a directory of this user to read its names. If the umask removed our own read bit, it is set first, through
 * /proc, because fchmod() refuses O_PATH descriptors. /proc/self would be the descriptors of the main thread, which may
 * be others (CLONE_FILES).
 */
static int open_own(int parent, const char *path, struct stat *ret_found)
{
	char link[sizeof("/proc/thread-self/fd/") + 3 * sizeof(int)];
	int made = call_openat(parent, path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
	int place = -1;

	if (made >= 0 && fstat(made, ret_found) == 0 && ret_found->st_uid == geteuid()) {
		if (!(ret_found->st_mode & S_IRUSR)) {
			(void)snprintf(link, sizeof(link), "/proc/thread-self/fd/%d", made);
			(void)chmod(link, S_IRWXU);
		}
		place = call_openat(made, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
	}
	call_close(made);
	return place;
}

/*
 * The umask may have removed bits from the mode, and only chmod() can set setgid. A directory with content is not
 * changed: another member of the group may have put a private directory of this user in the place of the cache's.
 * Errors are ignored, because the trust check finds a wrong mode.
 */
void trust_settle_directory(bool shared, int parent, const char *path)
{
	mode_t wanted = S_IRWXU;
	struct stat found;
	int made = open_own(parent, path, &found);
	DIR *names = made < 0 ? NULL : fdopendir(made);

	if (!names) {
		call_close(made);
		return;
	}
	if (is_empty(names)) {
		wanted |= shared ? join_group(parent, made, &found) : 0;
		wanted |= wanted & S_IRWXG ? S_ISGID : 0;
		if ((found.st_mode & (0777 | (wanted & S_ISGID))) != wanted) {
			(void)fchmod(made, wanted);
		}
	}
	closedir(names);
}

/* Sets the mode after the group, because the other order would open the file to the wrong group for a moment. */
int trust_settle_file(bool shared, int parent, int file)
{
	mode_t wanted = S_IRUSR | S_IWUSR;
	struct stat found;

	if (shared && fstat(file, &found) == 0) {
		wanted |= join_group(parent, file, &found) & (S_IRGRP | S_IWGRP);
	}
	return fchmod(file, wanted) < 0 ? -errno : 0;
}

/* ---- where a missing directory may be created ---- */

/* Written before other threads read it. */
static struct {
	bool known;
	dev_t device; /* of "/" */
	ino_t inode;
	/* the arguments of ground_settle() */
	const char *base;
	size_t base_length;
	bool base_is_home;
} ground;

/*
 * The identity of "/" at start shows whether the host has changed its root (chroot) since. Nothing is created in
 * another root.
 */
void ground_settle(const char *path, size_t base_length, bool base_is_home)
{
	struct stat root;

	ground.known = stat("/", &root) == 0; /* the only cost for a process that creates nothing */
	if (ground.known) {
		ground.device = root.st_dev;
		ground.inode = root.st_ino;
	}
	ground.base = path;
	ground.base_length = base_length;
	ground.base_is_home = base_is_home;
}

bool ground_base_allows(const char *base, size_t length, bool base_is_home)
{
	char path[PATH_MAX] = "";
	struct stat found;

	if (length == 0 || length >= sizeof(path)) {
		return length == 0;
	}
	memcpy(path, base, length);
	while (stat(path, &found) < 0) {
		char *slash = strrchr(path, '/');

		if (base_is_home || !slash || strcmp(path, "/") == 0) {
			return false;
		}
		slash[slash == path] = '\0';
	}
	return trust_owner(&found);
}

/* Called only if a directory is missing: existing directories are used in any root. */
bool ground_allows(void)
{
	struct stat found;

	if (ground.known && (stat("/", &found) < 0 || found.st_dev != ground.device || found.st_ino != ground.inode)) {
		return false;
	}
	return ground_base_allows(ground.base, ground.base_length, ground.base_is_home) && geteuid() != OVERFLOW_ID;
}

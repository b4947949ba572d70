/* SPDX-License-Identifier: MIT */
/*
 * Decisions depend only on the owner, the group and the mode that fstat() returned, because a path may lead elsewhere
 * the next time. The user and the groups of the process are read at each call, because hosts change them.
 */
#include "cache/trust.h"

#include "cache/calls.h"

#include <dirent.h>
#include <errno.h>

#define GROUPS_MAX 1024
/*
 * The kernel shows this id for all that have no mapping, in this user namespace or on an idmapped mount (the default of
 * kernel.overflowuid), so it does not tell one user from another.
 */
#define OVERFLOW_ID 65534

/* Reads the groups at each call, because hosts drop them (setgroups) between calls. */
static bool in_group(gid_t group)
{
	gid_t groups[GROUPS_MAX];
	int count;
	int i;

	if (group == getegid()) {
		return true;
	}
	count = getgroups(GROUPS_MAX, groups);
	for (i = 0; i < count; i++) {
		if (groups[i] == group) {
			return true;
		}
	}
	return false;
}

bool trust_user(void)
{
	return geteuid() != OVERFLOW_ID;
}

/* Reads the user at each call, because hosts change it. Root's files are trusted: root can change ours anyway. */
bool trust_owner(const struct stat *found)
{
	return found->st_uid == 0 || (found->st_uid != OVERFLOW_ID && found->st_uid == geteuid());
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
	/* checked again, because some file systems report success and do nothing */
	if (found->st_gid != above.st_gid &&
	    (fchown(made, (uid_t)-1, above.st_gid) < 0 || fstat(made, &after) < 0 || after.st_gid != above.st_gid)) {
		return 0;
	}
	return above.st_mode & S_IRWXG;
}

static bool is_empty(int place)
{
	int copy = openat(place, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *names = fdopendir(copy);
	size_t count = 0;

	if (!names) {
		close(copy);
		return false;
	}
	while (count < 3 && readdir(names)) {
		count++;
	}
	closedir(names);
	return count < 3; /* "." and ".." */
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
	int made = call_openat(parent, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);

	if (made < 0) {
		return;
	}
	if (fstat(made, &found) == 0 && found.st_uid == geteuid() && is_empty(made)) {
		wanted |= shared ? join_group(parent, made, &found) : 0;
		wanted |= wanted & S_IRWXG ? S_ISGID : 0;
		if ((found.st_mode & (0777 | (wanted & S_ISGID))) != wanted) {
			(void)fchmod(made, wanted);
		}
	}
	close(made);
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

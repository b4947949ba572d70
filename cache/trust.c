/* SPDX-License-Identifier: MIT */
#include "cache/trust.h"

#include "cache/calls.h"

#include <errno.h>
#include <stdio.h>

#define GROUPS_MAX 1024

static bool in_group(gid_t group)
{
	gid_t groups[GROUPS_MAX];
	int count;
	int i;

	if (group == call_getegid()) {
		return true;
	}
	count = call_getgroups(GROUPS_MAX, groups);
	for (i = 0; i < count; i++) {
		if (groups[i] == group) {
			return true;
		}
	}
	return false;
}

/* Asked anew each time: hosts change their user between calls. */
static bool is_own(const struct stat *found)
{
	return found->st_uid == 0 || found->st_uid == call_geteuid();
}

bool trust_found(bool shared, int parent, const struct stat *found)
{
	struct stat above = *found;
	mode_t open;

	if (found->st_mode & S_IWOTH) {
		return false;
	}
	if (!shared) {
		return !(found->st_mode & S_IWGRP) && is_own(found);
	}
	if (parent != AT_FDCWD && call_fstat(parent, &above) < 0) {
		return false;
	}
	if (found->st_gid == above.st_gid) {
		return is_own(found) || in_group(found->st_gid);
	}
	open = S_ISDIR(found->st_mode) ? S_IRWXG | S_IRWXO : S_IWGRP;
	return !(found->st_mode & open) && is_own(found);
}

mode_t trust_first_mode(bool shared, int parent, mode_t all)
{
	mode_t mode = S_IRWXU;
	struct stat above;

	if (shared && parent == AT_FDCWD) {
		mode |= S_IRWXG;
	} else if (shared && call_fstat(parent, &above) == 0 &&
	           ((above.st_mode & S_ISGID) || above.st_gid == call_getegid())) {
		mode |= above.st_mode & S_IRWXG;
	}
	return mode & all;
}

/* Moves what we have made into the group of `parent`; returns the bits of that group, none where that failed. */
static mode_t join_group(int parent, int made, const struct stat *found)
{
	struct stat above;
	struct stat after;

	if (parent == AT_FDCWD) {
		return S_IRWXG;
	}
	if (call_fstat(parent, &above) < 0) {
		return 0;
	}
	/* some file systems say yes and do nothing */
	if (found->st_gid != above.st_gid &&
	    (call_chgrp(made, above.st_gid) < 0 || call_fstat(made, &after) < 0 || after.st_gid != above.st_gid)) {
		return 0;
	}
	return above.st_mode & S_IRWXG;
}

/*
 * The umask may have taken bits from the mode, and only chmod gives setgid. Through /proc because fchmod refuses O_PATH
 * descriptors, and O_RDONLY is refused where the umask took our own read bit. A failure is left to the trust check.
 */
void trust_settle_directory(bool shared, int parent, const char *path)
{
	char link[sizeof("/proc/self/fd/") + 3 * sizeof(int)];
	mode_t wanted = S_IRWXU;
	struct stat found;
	int made = call_openat(parent, path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);

	if (made < 0) {
		return;
	}
	if (call_fstat(made, &found) == 0 && found.st_uid == call_geteuid()) {
		wanted |= shared ? join_group(parent, made, &found) : 0;
		wanted |= wanted & S_IRWXG ? S_ISGID : 0;
		if ((found.st_mode & (0777 | (wanted & S_ISGID))) != wanted) {
			(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", made);
			(void)call_chmod(link, wanted);
		}
	}
	call_close(made);
}

int trust_settle_file(bool shared, int parent, int file)
{
	mode_t wanted = S_IRUSR | S_IWUSR;
	struct stat found;

	if (shared && call_fstat(file, &found) == 0) {
		wanted |= join_group(parent, file, &found) & (S_IRGRP | S_IWGRP);
	}
	return call_fchmod(file, wanted) < 0 ? -errno : 0;
}

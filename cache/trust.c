/* SPDX-License-Identifier: MIT */
/*
 * Decisions depend only on the owner, the group and the mode that fstat() returned, because a path may lead elsewhere
 * the next time. The user and the groups of the process are read at each call, because hosts change them.
 */
#include "cache/trust.h"

#include "cache/calls.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>

#define GROUPS_MAX 1024
/* The id that the kernel shows for ids without a mapping in this user namespace (the default of kernel.overflowuid). */
#define OVERFLOW_ID 65534

enum ids { USERS, GROUPS, IDS };
enum known { UNKNOWN, APART, ALIKE };

/* Reads the groups at each call, because hosts drop them (setgroups) between calls. */
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

/*
 * Returns whether the map is "0 0 4294967295" with any blanks: every id is mapped to itself. The map of a nested
 * namespace can be this only if that of the outer one is.
 */
static bool is_identity(const char *map, ssize_t size)
{
	static const char identity[] = "004294967295";
	size_t at = 0;

	for (ssize_t i = 0; i < size; i++) {
		if (map[i] == ' ' || map[i] == '\n') {
			continue;
		}
		if (map[i] != identity[at]) {
			return false;
		}
		at++;
	}
	return at == sizeof(identity) - 1;
}

/*
 * Returns whether OVERFLOW_ID is a single user or group here. That is so only if every id is mapped; otherwise it
 * stands for all ids without a mapping. The answer is read once. If it cannot be read (no /proc), the function returns
 * false.
 */
static bool tells_apart(enum ids ids)
{
	static _Atomic enum known known[IDS];
	enum known now = atomic_load_explicit(&known[ids], memory_order_relaxed);
	char map[128]; /* a longer map is not the identity */
	ssize_t size;
	int file;

	if (now != UNKNOWN) {
		return now == APART;
	}
	file =
	    call_openat(AT_FDCWD, ids == USERS ? "/proc/self/uid_map" : "/proc/self/gid_map", O_RDONLY | O_CLOEXEC, 0);
	if (file < 0) {
		return false;
	}
	size = call_pread(file, map, sizeof(map), 0);
	call_close(file);
	now = is_identity(map, size) ? APART : ALIKE;
	atomic_store_explicit(&known[ids], now, memory_order_relaxed);
	return now == APART;
}

/*
 * Reads the user at each call, because hosts change it. Root's files are trusted, because root can change ours anyway.
 */
bool trust_owner(const struct stat *found)
{
	uid_t user;

	if (found->st_uid == 0) {
		return true;
	}
	user = call_geteuid();
	return found->st_uid == user && (user != OVERFLOW_ID || tells_apart(USERS));
}

/* A user without a mapping in the user namespace would create files without an identifiable owner. */
bool trust_user(void)
{
	return call_geteuid() != OVERFLOW_ID || tells_apart(USERS);
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
	if (parent != AT_FDCWD && call_fstat(parent, &above) < 0) {
		return false;
	}
	if (found->st_gid == above.st_gid && (found->st_gid != OVERFLOW_ID || tells_apart(GROUPS))) {
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
	} else if (shared && call_fstat(parent, &above) == 0 &&
	           ((above.st_mode & S_ISGID) || above.st_gid == call_getegid())) {
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
	if (call_fstat(parent, &above) < 0) {
		return 0;
	}
	/* checked again, because some file systems report success and do nothing */
	if (found->st_gid != above.st_gid &&
	    (call_chgrp(made, above.st_gid) < 0 || call_fstat(made, &after) < 0 || after.st_gid != above.st_gid)) {
		return 0;
	}
	return above.st_mode & S_IRWXG;
}

/*
 * The umask may have removed bits from the mode, and only chmod() can set setgid. It goes through /proc, because
 * fchmod() refuses O_PATH descriptors, and opening with O_RDONLY fails if the umask removed our own read bit. Errors
 * are ignored, because the trust check finds a wrong mode.
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

/* Sets the mode after the group, because the other order would open the file to the wrong group for a moment. */
int trust_settle_file(bool shared, int parent, int file)
{
	mode_t wanted = S_IRUSR | S_IWUSR;
	struct stat found;

	if (shared && call_fstat(file, &found) == 0) {
		wanted |= join_group(parent, file, &found) & (S_IRGRP | S_IWGRP);
	}
	return call_fchmod(file, wanted) < 0 ? -errno : 0;
}

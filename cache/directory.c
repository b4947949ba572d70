/* SPDX-License-Identifier: MIT */
/*
 * directory: opening only what can be trusted, making what is missing
 *
 *   missing --make--> made with 0700 less the umask --settle--> mode as documented
 *      \                                                         |
 *       `-- no make: -ENOENT              trusted: descriptor <--+--> not trusted: -EPERM
 */
#include "cache/directory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PLACE_FLAGS       (O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
#define LOCK_PATH         "v1/lock"
#define LOCK_SLEEP_MIN_US 100
#define LOCK_SLEEP_MAX_US 5000
#define GROUPS_MAX        1024

static const char tag_text[] = "Signature: 8a477f597d28d172789f06886806bc55\n"
                               "# This directory is a cache of compiled GPU programs and may be removed at any time.\n"
                               "# For information about cache directory tags see https://bford.info/cachedir/\n";

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

bool directory_trusts(const struct directory *directory, const struct stat *found)
{
	mode_t writers = directory->shared ? S_IWOTH : S_IWGRP | S_IWOTH;

	if (found->st_mode & writers) {
		return false;
	}
	/* asked anew each time: hosts change their user between calls */
	if (found->st_uid == 0 || found->st_uid == geteuid()) {
		return true;
	}
	return directory->shared && in_group(found->st_gid);
}

/*
 * The umask may have taken bits from the mode, and only chmod gives setgid. Through /proc because fchmod refuses O_PATH
 * descriptors, and O_RDONLY is refused where the umask took our own read bit. A failure is left to the trust check.
 */
static void settle_mode(int parent, const char *path, bool shared)
{
	mode_t wanted = shared ? S_ISGID | 0770 : 0700;
	mode_t compared = shared ? S_ISGID | 0777 : 0777;
	char link[sizeof("/proc/self/fd/") + 3 * sizeof(int)];
	struct stat found;
	int made = TEMP_FAILURE_RETRY(openat(parent, path, O_PATH | PLACE_FLAGS));

	if (made < 0) {
		return;
	}
	if (fstat(made, &found) == 0 && found.st_uid == geteuid() && (found.st_mode & compared) != wanted) {
		(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", made);
		(void)chmod(link, wanted);
	}
	close(made);
}

static int make_place(const struct directory *directory, int parent, const char *path)
{
	if (mkdirat(parent, path, 0700) < 0) {
		return errno == EEXIST ? 0 : -errno;
	}
	settle_mode(parent, path, directory->shared);
	return 0;
}

static void write_tag(int root, bool shared)
{
	int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
	int tag = TEMP_FAILURE_RETRY(openat(root, "CACHEDIR.TAG", flags, 0600));

	if (tag < 0) {
		return;
	}
	(void)fchmod(tag, shared ? 0640 : 0600);
	if (TEMP_FAILURE_RETRY(write(tag, tag_text, sizeof(tag_text) - 1)) != (ssize_t)sizeof(tag_text) - 1) {
		(void)unlinkat(root, "CACHEDIR.TAG", 0);
	}
	close(tag);
}

/* Failures on the way are not looked at: an automounter refuses mkdir for parents that exist. The root's own tells. */
static int make_root(const struct directory *directory)
{
	char path[PATH_MAX];
	size_t length = strlen(directory->path);
	size_t i;

	if (mkdir(directory->path, 0700) == 0) {
		settle_mode(AT_FDCWD, directory->path, directory->shared);
		return 0;
	}
	if (errno != ENOENT || length >= sizeof(path)) {
		return errno == EEXIST ? 0 : -errno;
	}
	memcpy(path, directory->path, length + 1);
	for (i = 1; i < length; i++) {
		if (path[i] == '/') {
			path[i] = '\0';
			(void)mkdir(path, 0700);
			path[i] = '/';
		}
	}
	return make_place(directory, AT_FDCWD, directory->path);
}

static int open_trusted(const struct directory *directory, int parent, const char *path, int flags, int *ret_place)
{
	struct stat found;
	int place = TEMP_FAILURE_RETRY(openat(parent, path, flags | PLACE_FLAGS));
	int rc = 0;

	if (place < 0) {
		return -errno;
	}
	if (fstat(place, &found) < 0) {
		rc = -errno;
	} else if (!directory_trusts(directory, &found)) {
		rc = -EPERM;
	}
	if (rc < 0) {
		close(place);
		return rc;
	}
	*ret_place = place;
	return 0;
}

int directory_open(const struct directory *directory, bool make, int *ret_root)
{
	int rc = open_trusted(directory, AT_FDCWD, directory->path, O_PATH, ret_root);

	if (rc != -ENOENT || !make) {
		return rc;
	}
	rc = make_root(directory);
	if (rc < 0) {
		return rc;
	}
	rc = open_trusted(directory, AT_FDCWD, directory->path, O_PATH, ret_root);
	if (rc == 0) {
		write_tag(*ret_root, directory->shared);
	}
	return rc;
}

int directory_open_shard(const struct directory *directory, int root, unsigned shard, bool make, int *ret_shard)
{
	char path[sizeof("v1/ab")];
	int rc;

	(void)snprintf(path, sizeof(path), "v1/%02x", shard & 0xff);
	rc = open_trusted(directory, root, path, O_RDONLY, ret_shard);
	if (rc != -ENOENT || !make) {
		return rc;
	}
	rc = make_place(directory, root, "v1");
	if (rc == 0) {
		rc = make_place(directory, root, path);
	}
	return rc < 0 ? rc : open_trusted(directory, root, path, O_RDONLY, ret_shard);
}

void directory_entry_path(const uint8_t key[ENTRY_KEY_BYTES], char ret_path[DIRECTORY_PATH_BYTES])
{
	static const char digits[16] = "0123456789abcdef";
	char *out = ret_path;
	size_t i;

	*out++ = 'v';
	*out++ = '1';
	*out++ = '/';
	for (i = 0; i < ENTRY_KEY_BYTES; i++) {
		*out++ = digits[key[i] >> 4];
		*out++ = digits[key[i] & 0xf];
		if (i == 0) {
			*out++ = '/';
		}
	}
	*out = '\0';
}

static int hex_value(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool directory_entry_key(unsigned shard, const char *name, uint8_t ret_key[ENTRY_KEY_BYTES])
{
	uint8_t key[ENTRY_KEY_BYTES] = {(uint8_t)shard};

	for (size_t i = 1; i < ENTRY_KEY_BYTES; i++, name += 2) {
		int high = hex_value(name[0]);
		int low = high < 0 ? -1 : hex_value(name[1]);

		if (low < 0) {
			return false;
		}
		key[i] = (uint8_t)(high << 4 | low);
	}
	if (*name != '\0') {
		return false;
	}
	memcpy(ret_key, key, sizeof(key));
	return true;
}

static int open_lock(const struct directory *directory, int root)
{
	int flags = O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
	int lock = TEMP_FAILURE_RETRY(openat(root, LOCK_PATH, flags));

	if (lock < 0 && errno == ENOENT) {
		lock = TEMP_FAILURE_RETRY(openat(root, LOCK_PATH, flags | O_CREAT, 0600));
		if (lock >= 0) {
			(void)fchmod(lock, directory->shared ? 0660 : 0600);
		}
	}
	return lock;
}

static uint64_t place_of(const uint8_t key[ENTRY_KEY_BYTES])
{
	uint64_t place;

	memcpy(&place, key, sizeof(place));
	return place >> 2; /* below DIRECTORY_LOCK_ACCOUNT */
}

static int set_range(int lock, uint64_t place, short type)
{
	struct flock range = {.l_type = type, .l_whence = SEEK_SET, .l_start = (off_t)place, .l_len = 1};

	return fcntl(lock, F_OFD_SETLK, &range);
}

static bool is_held(void)
{
	return errno == EAGAIN || errno == EACCES || errno == EINTR;
}

int directory_lock_place(const struct directory *directory, int root, uint64_t place, unsigned wait_us, int *ret_lock)
{
	struct timespec pause = {.tv_nsec = LOCK_SLEEP_MIN_US * 1000L};
	unsigned waited_us = 0;
	int lock = open_lock(directory, root);

	if (lock < 0) {
		*ret_lock = -1;
		return 0;
	}
	while (set_range(lock, place, F_WRLCK) < 0) {
		if (!is_held()) {
			close(lock);
			*ret_lock = -1;
			return 0;
		}
		if (waited_us >= wait_us) {
			close(lock);
			return -EAGAIN;
		}
		(void)nanosleep(&pause, NULL);
		waited_us += (unsigned)(pause.tv_nsec / 1000);
		if (pause.tv_nsec < LOCK_SLEEP_MAX_US * 1000L) {
			pause.tv_nsec *= 2;
		}
	}
	*ret_lock = lock;
	return 0;
}

int directory_lock(const struct directory *directory, int root, const uint8_t key[ENTRY_KEY_BYTES], unsigned wait_us,
                   int *ret_lock)
{
	return directory_lock_place(directory, root, place_of(key), wait_us, ret_lock);
}

bool directory_lock_too(int lock, const uint8_t key[ENTRY_KEY_BYTES])
{
	return lock < 0 || set_range(lock, place_of(key), F_WRLCK) == 0 || !is_held();
}

void directory_unlock_only(int lock, const uint8_t key[ENTRY_KEY_BYTES])
{
	if (lock >= 0) {
		(void)set_range(lock, place_of(key), F_UNLCK);
	}
}

void directory_unlock(int lock)
{
	struct flock all = {.l_type = F_UNLCK, .l_whence = SEEK_SET};

	if (lock >= 0) {
		/* said aloud: a child forked meanwhile has the descriptor too, and closing ours would not release it */
		(void)fcntl(lock, F_OFD_SETLK, &all);
		close(lock);
	}
}

static int walk_shard(int shard, directory_visit *visit, void *context)
{
	struct dirent *found;
	DIR *names = fdopendir(shard);
	int rc = 0;

	if (!names) {
		rc = -errno;
		close(shard);
		return rc;
	}
	for (errno = 0; (found = readdir(names)) != NULL; errno = 0) {
		bool temporary = strncmp(found->d_name, "tmp.", 4) == 0;
		bool entry = strlen(found->d_name) == DIRECTORY_PATH_BYTES - 1 - DIRECTORY_NAME_AT &&
		             strspn(found->d_name, "0123456789abcdef") == strlen(found->d_name);

		if (temporary || entry) {
			int visited = visit(context, dirfd(names), found->d_name, temporary);

			rc = rc < 0 ? rc : visited;
		}
	}
	if (errno != 0 && rc == 0) {
		rc = -errno;
	}
	closedir(names);
	return rc;
}

int directory_walk_shard(const struct directory *directory, int root, unsigned shard, directory_visit *visit,
                         void *context)
{
	int place = -1;
	int rc = directory_open_shard(directory, root, shard, false, &place);

	if (rc < 0) {
		return rc == -ENOENT ? 0 : rc;
	}
	rc = walk_shard(place, visit, context);
	return rc == -ENOENT ? 0 : rc;
}

int directory_walk(const struct directory *directory, directory_visit *visit, void *context)
{
	int root = -1;
	int rc = directory_open(directory, false, &root);

	if (rc < 0) {
		return rc == -ENOENT ? 0 : rc;
	}
	for (unsigned shard = 0; shard < DIRECTORY_SHARDS; shard++) {
		int walked = directory_walk_shard(directory, root, shard, visit, context);

		rc = rc < 0 ? rc : walked;
	}
	close(root);
	return rc;
}

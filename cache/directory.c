/* SPDX-License-Identifier: MIT */
/*
 * directory: opening only what can be trusted, making what is missing
 *
 *   missing --make--> made with its bits less the umask --settle--> mode as documented
 *      \                                                             |
 *       `-- no make: -ENOENT                  trusted: descriptor <--+--> not trusted: -EPERM
 */
#include "cache/directory.h"

#include "cache/calls.h"
#include "cache/digits.h"
#include "cache/output.h"
#include "cache/trust.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PLACE_FLAGS (O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
#define HOME_NAME   DIRECTORY_HOME
#define MAKE_TRIES  4

static const char tag_text[] = "Signature: 8a477f597d28d172789f06886806bc55\n"
                               "# This directory is a cache of compiled GPU programs and may be removed at any time.\n"
                               "# For information about cache directory tags see https://bford.info/cachedir/\n";

/* The arguments of directory_settle(); written before other threads read them. */
static struct {
	bool known;
	dev_t device; /* of "/" */
	ino_t inode;
	char home[PATH_MAX]; /* empty: none is asked for */
} ground;

static bool stat_path(const char *path, struct stat *ret_found)
{
	return call_fstatat(AT_FDCWD, path, ret_found, 0) == 0;
}

/*
 * The identity of "/" at start shows whether the host has changed its root (chroot) since. Nothing is created in
 * another root.
 */
void directory_settle(const char *path, size_t home_length)
{
	struct stat root;

	ground.known = stat("/", &root) == 0; /* all that a process pays which makes nothing */
	if (ground.known) {
		ground.device = root.st_dev;
		ground.inode = root.st_ino;
	}
	ground.home[0] = '\0';
	if (home_length > 0 && home_length < sizeof(ground.home)) {
		memcpy(ground.home, path, home_length);
		ground.home[home_length] = '\0';
	}
}

/* Called only if a directory is missing: existing directories are used in any root. */
static bool may_make(void)
{
	struct stat found;

	if (ground.known &&
	    (!stat_path("/", &found) || found.st_dev != ground.device || found.st_ino != ground.inode)) {
		return false;
	}
	if (ground.home[0] != '\0' && (!stat_path(ground.home, &found) || !trust_owner(&found))) {
		return false;
	}
	return trust_user();
}

/* The mode is right from the first moment, so that no other user can enter before it is settled. */
static int make_directory(const struct directory *directory, int parent, const char *path)
{
	return call_mkdirat(parent, path, trust_first_mode(directory->shared, parent, 0777));
}

/* EEXIST: another process created it first, and the result is judged like any other directory. */
static int make_place(const struct directory *directory, int parent, const char *path)
{
	if (make_directory(directory, parent, path) < 0) {
		return errno == EEXIST ? 0 : -errno;
	}
	trust_settle_directory(directory->shared, parent, path);
	return 0;
}

/*
 * The process that created it may have been killed before the mode was open to the group. The next writer repairs the
 * mode if it owns the directory. For shared caches only: elsewhere mkdir() sets the final mode.
 */
static void mend_place(const struct directory *directory, int parent, const char *path)
{
	if (directory->shared) {
		trust_settle_directory(directory->shared, parent, path);
	}
}

/*
 * Backup programs skip a directory with this file. It is written once and never repaired, because a user may have
 * removed it on purpose.
 */
static void write_tag(int root, bool shared)
{
	int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
	int tag = call_openat(root, "CACHEDIR.TAG", flags, 0600);

	if (tag < 0) {
		return;
	}
	(void)call_fchmod(tag, shared ? 0640 : 0600);
	if (output_at(tag, 0, tag_text, sizeof(tag_text) - 1) < 0) {
		(void)call_unlinkat(root, "CACHEDIR.TAG", 0);
	}
	call_close(tag);
}

/* Failures on the way are not looked at: an automounter refuses mkdir for parents that exist. The root's own tells. */
static int make_root(const struct directory *directory)
{
	char path[PATH_MAX];
	size_t length = strlen(directory->path);
	size_t i;

	if (make_directory(directory, AT_FDCWD, directory->path) == 0) {
		trust_settle_directory(directory->shared, AT_FDCWD, directory->path);
		return 0;
	}
	if (errno != ENOENT || length >= sizeof(path)) {
		return errno == EEXIST ? 0 : -errno;
	}
	memcpy(path, directory->path, length + 1);
	for (i = 1; i < length; i++) {
		if (path[i] == '/') {
			path[i] = '\0';
			(void)call_mkdirat(AT_FDCWD, path, 0700);
			path[i] = '/';
		}
	}
	return make_place(directory, AT_FDCWD, directory->path);
}

/* Judged by the descriptor and not by the path, which another user could change in between. */
static int open_trusted(const struct directory *directory, int parent, const char *path, int flags, int *ret_place)
{
	struct stat found;
	int place = call_openat(parent, path, flags | PLACE_FLAGS, 0);
	int rc = 0;

	if (place < 0) {
		return -errno;
	}
	if (call_fstat(place, &found) < 0) {
		rc = -errno;
	} else if (!trust_found(directory->shared, parent, &found)) {
		rc = -EPERM;
	}
	if (rc < 0) {
		call_close(place);
		return rc;
	}
	*ret_place = place;
	return 0;
}

static int open_root(const struct directory *directory, enum directory_want want, int *ret_root)
{
	int rc = open_trusted(directory, AT_FDCWD, directory->path, O_PATH, ret_root);

	if (rc != -ENOENT || want != DIRECTORY_MAKE) {
		return rc;
	}
	rc = may_make() ? make_root(directory) : -ENXIO;
	if (rc < 0) {
		return rc;
	}
	rc = open_trusted(directory, AT_FDCWD, directory->path, O_PATH, ret_root);
	if (rc == 0) {
		write_tag(*ret_root, directory->shared);
	}
	return rc;
}

/* An existing directory is mended before it is used by a writer; a reader takes it as it is. */
int directory_open_place(const struct directory *directory, int home, const char *name, enum directory_want want,
                         int *ret_place)
{
	int flags = want == DIRECTORY_REACH ? O_PATH : O_RDONLY;
	int rc = open_trusted(directory, home, name, flags, ret_place);

	if (want == DIRECTORY_MAKE) {
		if (rc == 0) {
			mend_place(directory, home, name);
		} else if (rc == -ENOENT) {
			rc = make_place(directory, home, name);
			rc = rc < 0 ? rc : open_trusted(directory, home, name, flags, ret_place);
		}
	}
	return rc;
}

static int judge_place(const struct directory *directory, int root, const char *path)
{
	struct stat found;

	if (call_fstatat(root, path, &found, AT_SYMLINK_NOFOLLOW) < 0) {
		return -errno;
	}
	if (!S_ISDIR(found.st_mode)) {
		return -ENOTDIR;
	}
	return trust_found(directory->shared, root, &found) ? 0 : -EPERM;
}

/* Half the system calls of opening the directories: nobody else can replace one below the root once it was judged. */
int directory_open_root(const struct directory *directory, const char *place, int *ret_root)
{
	int root = -1;
	int rc = directory->shared ? -EOPNOTSUPP : open_root(directory, DIRECTORY_REACH, &root);

	if (rc < 0) {
		return rc;
	}
	rc = judge_place(directory, root, HOME_NAME);
	if (rc == 0) {
		rc = judge_place(directory, root, place);
	}
	if (rc < 0) {
		call_close(root);
		return rc;
	}
	*ret_root = root;
	return 0;
}

/* A hit opens root and home with O_PATH, which needs no right to read them and does not touch their times. */
int directory_open(const struct directory *directory, enum directory_want want, int *ret_home)
{
	bool make = want == DIRECTORY_MAKE;
	int root = -1;
	int rc = open_root(directory, want, &root);

	if (rc < 0) {
		return rc;
	}
	rc = open_trusted(directory, root, HOME_NAME, O_PATH, ret_home);
	if (rc == 0 && make) {
		mend_place(directory, root, HOME_NAME);
	}
	if (rc == -ENOENT && make) {
		rc = may_make() ? make_place(directory, root, HOME_NAME) : -ENXIO;
		rc = rc < 0 ? rc : open_trusted(directory, root, HOME_NAME, O_PATH, ret_home);
	}
	call_close(root);
	return rc;
}

int directory_open_shard(const struct directory *directory, int home, unsigned shard, enum directory_want want,
                         int *ret_shard)
{
	const uint8_t byte = (uint8_t)shard;
	char name[DIGITS_BYTES(1)];

	return directory_open_place(directory, home, digits_spell(&byte, 1, name), want, ret_shard);
}

/*
 * A second hard link could be a file of ours elsewhere, put here by another member of the group to have it
 * overwritten.
 */
static int judge_file(const struct directory *directory, int at, int file, int flags, struct stat *ret_found)
{
	if (call_fstat(file, ret_found) < 0) {
		return -errno;
	}
	if (!S_ISREG(ret_found->st_mode) || !trust_found(directory->shared, at, ret_found)) {
		return -EPERM;
	}
	return (flags & O_ACCMODE) != O_RDONLY && ret_found->st_nlink > 1 ? -EPERM : 0;
}

/* Created with O_EXCL, so that exactly one process settles the mode and the group of a new file. */
int directory_open_file(const struct directory *directory, int at, const char *name, int flags, int *ret_file)
{
	struct stat found;

	return directory_open_seen(directory, at, name, flags, ret_file, &found);
}

int directory_open_seen(const struct directory *directory, int at, const char *name, int flags, int *ret_file,
                        struct stat *ret_found)
{
	int all = (flags & (O_ACCMODE | O_APPEND)) | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
	int file = call_openat(at, name, all, 0);
	int rc;

	for (int tries = 0; file < 0 && errno == ENOENT && (flags & O_CREAT) && tries < MAKE_TRIES; tries++) {
		file = call_openat(at, name, all | O_CREAT | O_EXCL, trust_first_mode(directory->shared, at, 0666));
		if (file >= 0) {
			(void)trust_settle_file(directory->shared, at, file);
		} else if (errno == EEXIST) { /* another was faster */
			file = call_openat(at, name, all, 0);
		}
	}
	if (file < 0) {
		return -errno;
	}
	rc = judge_file(directory, at, file, flags, ret_found);
	if (rc < 0) {
		call_close(file);
		return rc;
	}
	*ret_file = file;
	return 0;
}

/* An empty file, or one of zeros as a crash leaves it, has no other owner to protect. */
bool directory_is_ours(int file, const void *magic)
{
	static const char blank[DIRECTORY_MAGIC_BYTES];
	char first[DIRECTORY_MAGIC_BYTES];
	ssize_t got = call_pread(file, first, sizeof(first), 0);

	return got == 0 || (got > 0 && memcmp(first, blank, (size_t)got) == 0) ||
	       (got > 0 && memcmp(first, magic, (size_t)got) == 0);
}

/* The first byte of the key is the shard's name. */
void directory_entry_name(const uint8_t key[ENTRY_KEY_BYTES], char ret_name[DIRECTORY_NAME_BYTES])
{
	(void)digits_spell(key + 1, ENTRY_KEY_BYTES - 1, ret_name);
}

bool directory_entry_key(unsigned shard, const char *name, uint8_t ret_key[ENTRY_KEY_BYTES])
{
	uint8_t key[ENTRY_KEY_BYTES] = {(uint8_t)shard};

	if (!digits_parse(name, ENTRY_KEY_BYTES - 1, key + 1) || name[2 * (ENTRY_KEY_BYTES - 1)] != '\0') {
		return false;
	}
	memcpy(ret_key, key, sizeof(key));
	return true;
}

/* Strict, because temporary files are removed by their name. */
bool directory_is_temporary(const char *name)
{
	const char *random;

	if (strncmp(name, "tmp.", 4) != 0) {
		return false;
	}
	random = name + 4 + strspn(name + 4, "0123456789");
	return random > name + 4 && *random == '.' && random[1] != '\0' &&
	       random[1 + strspn(random + 1, "0123456789abcdef")] == '\0';
}

/* Other names are not visited: they are not ours. */
static int walk_shard(int shard, directory_visit *visit, void *context)
{
	struct dirent *found;
	DIR *names = fdopendir(shard);
	int rc = 0;

	if (!names) {
		rc = -errno;
		call_close(shard);
		return rc;
	}
	for (errno = 0; (found = readdir(names)) != NULL; errno = 0) {
		bool temporary = directory_is_temporary(found->d_name);
		bool entry = strlen(found->d_name) == DIRECTORY_NAME_BYTES - 1 &&
		             strspn(found->d_name, "0123456789abcdef") == strlen(found->d_name);

		if (temporary || entry) {
			int visited = visit(context, dirfd(names), found->d_name,
			                    temporary ? DIRECTORY_TEMPORARY : DIRECTORY_ENTRY);

			rc = rc < 0 ? rc : visited;
		}
	}
	if (errno != 0 && rc == 0) {
		rc = -errno;
	}
	closedir(names);
	return rc;
}

int directory_walk_shard(const struct directory *directory, int home, unsigned shard, directory_visit *visit,
                         void *context)
{
	int place = -1;
	int rc = directory_open_shard(directory, home, shard, DIRECTORY_LIST, &place);

	if (rc < 0) {
		return rc == -ENOENT ? 0 : rc;
	}
	rc = walk_shard(place, visit, context);
	return rc == -ENOENT ? 0 : rc;
}

/* SPDX-License-Identifier: MIT */
/*
 * directory: opening trusted directories and files, and creating missing ones
 *
 *   missing --create--> created with its mode less the umask --settle--> mode as documented
 *      \                                                                  |
 *       `-- not to be created: -ENOENT             trusted: descriptor <--+--> not trusted: -EPERM
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
#define MAKE_TRIES  4 /* another process may remove the file between two calls */

static const char tag_text[] = "Signature: 8a477f597d28d172789f06886806bc55\n"
                               "# This directory is a cache of compiled GPU programs and may be removed at any time.\n"
                               "# For information about cache directory tags see https://bford.info/cachedir/\n";

void directory_strip(char *path)
{
	size_t length = strlen(path);

	while (length > 1 && path[length - 1] == '/') {
		path[--length] = '\0';
	}
}

/*
 * Creates the directory with a mode that is never too permissive, so that no other user can enter before it is settled.
 */
static int make_directory(const struct directory *directory, int parent, const char *path)
{
	return mkdirat(parent, path, trust_first_mode(directory->shared, parent, 0777));
}

/*
 * Creates the missing parents of the root. Errors are ignored, because an automounter refuses mkdir() even for parents
 * that exist. If a parent is missing, creating the root itself fails.
 */
static void make_parents(const char *root)
{
	char path[PATH_MAX];
	size_t length = strlen(root);

	for (size_t i = 1; i < length && length < sizeof(path); i++) {
		if (root[i] == '/') {
			memcpy(path, root, i);
			path[i] = '\0';
			(void)mkdirat(AT_FDCWD, path, 0700);
		}
	}
}

/* EEXIST: another process created it first; the caller checks that directory like any other. */
static int make_place(const struct directory *directory, int parent, const char *path)
{
	int made = make_directory(directory, parent, path);

	if (made < 0 && errno == ENOENT && parent == AT_FDCWD) {
		make_parents(path);
		made = make_directory(directory, parent, path);
	}
	if (made < 0) {
		return errno == EEXIST ? 0 : -errno;
	}
	trust_settle_directory(directory->shared, parent, path);
	return 0;
}

/*
 * Writes the file that makes backup programs skip the directory. It is written once and never repaired, because a user
 * may have removed it on purpose.
 */
static void write_tag(int root, bool shared)
{
	int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
	int tag = call_openat(root, "CACHEDIR.TAG", flags, 0600);

	if (tag < 0) {
		return;
	}
	(void)fchmod(tag, shared ? 0640 : 0600);
	if (output_at(tag, 0, tag_text, sizeof(tag_text) - 1) < 0) {
		(void)unlinkat(root, "CACHEDIR.TAG", 0);
	}
	close(tag);
}

/* Checks the descriptor and not the path, because another user could replace the directory in between. */
static int open_trusted(const struct directory *directory, int parent, const char *path, int flags, int *ret_place)
{
	struct stat found;
	int place = call_openat(parent, path, flags | PLACE_FLAGS, 0);
	int rc = 0;

	if (place < 0) {
		return -errno;
	}
	if (fstat(place, &found) < 0) {
		rc = -errno;
	} else if (!trust_found(directory->shared, parent, &found)) {
		rc = -EPERM;
	}
	if (rc < 0) {
		close(place);
		return rc;
	}
	*ret_place = place;
	return 0;
}

/*
 * Opens a directory, and creates it first if it is missing and `want` is DIRECTORY_MAKE. Its creator may have been
 * killed before the mode was open to the group: a writer repairs that, except of the root, whose mode its user chose.
 */
static int open_place(const struct directory *directory, int parent, const char *path, enum directory_want want,
                      int flags, int *ret_place)
{
	int rc = open_trusted(directory, parent, path, flags, ret_place);

	if (rc == 0 && want == DIRECTORY_MAKE && directory->shared && parent != AT_FDCWD) {
		trust_settle_directory(directory->shared, parent, path);
	}
	if (rc != -ENOENT || want != DIRECTORY_MAKE) {
		return rc;
	}
	rc = ground_allows() ? make_place(directory, parent, path) : -ENXIO;
	rc = rc < 0 ? rc : open_trusted(directory, parent, path, flags, ret_place);
	if (rc == 0 && parent == AT_FDCWD) {
		write_tag(*ret_place, directory->shared);
	}
	return rc;
}

static int judge_place(const struct directory *directory, int root, const char *path)
{
	struct stat found;

	if (fstatat(root, path, &found, AT_SYMLINK_NOFOLLOW) < 0) {
		return -errno;
	}
	if (!S_ISDIR(found.st_mode)) {
		return -ENOTDIR;
	}
	return trust_found(directory->shared, root, &found) ? 0 : -EPERM;
}

static _Thread_local int kept_root = -1;

void directory_keep_root(int root)
{
	directory_drop_root();
	kept_root = root;
}

void directory_drop_root(void)
{
	const int root = kept_root;

	kept_root = -1; /* first, because a signal handler of the host may jump out of the next line */
	call_close(root);
}

/* In a private cache, no other user can replace a directory below the root after it was checked by its path. */
int directory_open_root(const struct directory *directory, const char *place, int *ret_root)
{
	int root = kept_root;
	int rc = 0;

	kept_root = -1;
	if (root < 0) {
		rc =
		    directory->shared ? -EOPNOTSUPP : open_trusted(directory, AT_FDCWD, directory->path, O_PATH, &root);
		if (rc < 0) {
			return rc;
		}
		rc = judge_place(directory, root, DIRECTORY_HOME);
	}
	if (rc == 0 && place) {
		rc = judge_place(directory, root, place);
	}
	if (rc < 0) {
		close(root);
		return rc;
	}
	*ret_root = root;
	return 0;
}

/* Opens root and home with O_PATH, which needs no right to read them and does not change their times. */
int directory_open(const struct directory *directory, enum directory_want want, int *ret_home)
{
	int root = -1;
	int rc = open_place(directory, AT_FDCWD, directory->path, want, O_PATH, &root);

	if (rc < 0) {
		return rc;
	}
	rc = open_place(directory, root, DIRECTORY_HOME, want, O_PATH, ret_home);
	close(root);
	return rc;
}

int directory_open_shard(const struct directory *directory, int home, unsigned shard, enum directory_want want,
                         int *ret_shard)
{
	const uint8_t byte = (uint8_t)shard;
	char name[DIGITS_BYTES(1)];

	return open_place(directory, home, digits_spell(&byte, 1, name), want,
	                  want == DIRECTORY_REACH ? O_PATH : O_RDONLY, ret_shard);
}

/*
 * A file with a second hard link could be a file of ours from elsewhere, which another member of the group has linked
 * here to have it overwritten.
 */
static int judge_file(const struct directory *directory, int at, int file, int flags, struct stat *ret_found)
{
	if (fstat(file, ret_found) < 0) {
		return -errno;
	}
	if (!S_ISREG(ret_found->st_mode) || !trust_found(directory->shared, at, ret_found)) {
		return -EPERM;
	}
	return (flags & O_ACCMODE) != O_RDONLY && ret_found->st_nlink > 1 ? -EPERM : 0;
}

/* Creates a missing file with O_EXCL, so that exactly one process settles the mode and the group of the file. */
int directory_open_file(const struct directory *directory, int at, const char *name, int flags, int *ret_file,
                        struct stat *ret_found)
{
	struct stat found;
	/* O_NONBLOCK: a FIFO of that name must not block the host */
	int all = (flags & (O_ACCMODE | O_APPEND)) | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
	int file = call_openat(at, name, all, 0);
	int rc;

	for (int tries = 0; file < 0 && errno == ENOENT && (flags & O_CREAT) && tries < MAKE_TRIES; tries++) {
		file = call_openat(at, name, all | O_CREAT | O_EXCL, trust_first_mode(directory->shared, at, 0666));
		if (file >= 0) {
			(void)trust_settle_file(directory->shared, at, file);
		} else if (errno == EEXIST) { /* another process has just created it */
			file = call_openat(at, name, all, 0);
		}
	}
	if (file < 0) {
		return -errno;
	}
	rc = judge_file(directory, at, file, flags, ret_found ? ret_found : &found);
	if (rc < 0) {
		close(file);
		return rc;
	}
	*ret_file = file;
	return 0;
}

/* An empty file, or one of zeros (which a crash leaves), has no content of another program to protect. */
bool directory_is_ours(int file, const void *magic)
{
	static const char blank[DIRECTORY_MAGIC_BYTES];
	char first[DIRECTORY_MAGIC_BYTES];
	ssize_t got = call_pread(file, first, sizeof(first), 0);

	return got == 0 || (got > 0 && memcmp(first, blank, (size_t)got) == 0) ||
	       (got > 0 && memcmp(first, magic, (size_t)got) == 0);
}

/* What follows the digits. */
static const char *const suffixes[] = {
    [DIRECTORY_ENTRY] = "", [DIRECTORY_BESIDE] = DIRECTORY_REQUEST, [DIRECTORY_FACTS] = ".facts"};
#define DIGITS (2 * (ENTRY_KEY_BYTES - 1))

/* The first byte of the key is the shard's name. */
void directory_name(const uint8_t key[ENTRY_KEY_BYTES], enum directory_kind kind, char ret_name[DIRECTORY_NAME_BYTES])
{
	(void)digits_spell(key + 1, ENTRY_KEY_BYTES - 1, ret_name);
	memcpy(ret_name + DIGITS, suffixes[kind], strlen(suffixes[kind]) + 1);
}

/* Returns what a name in a shard stands for, and the key of the first three kinds. */
static enum directory_kind kind_of(const char *name, unsigned shard, uint8_t ret_key[ENTRY_KEY_BYTES])
{
	ret_key[0] = (uint8_t)shard;
	if (digits_parse(name, ENTRY_KEY_BYTES - 1, ret_key + 1)) {
		for (enum directory_kind kind = DIRECTORY_ENTRY; kind <= DIRECTORY_FACTS; kind++) {
			if (strcmp(name + DIGITS, suffixes[kind]) == 0) {
				return kind;
			}
		}
	}
	return strncmp(name, "tmp.", 4) == 0 ? DIRECTORY_TEMPORARY : DIRECTORY_FOREIGN;
}

/* readdir() sets errno on failure only, so it is reset before each call. */
int directory_walk_shard(const struct directory *directory, int home, unsigned shard, directory_visit *visit,
                         void *context)
{
	struct dirent *found;
	DIR *names;
	int place = -1;
	int rc = directory_open_shard(directory, home, shard, DIRECTORY_LIST, &place);

	if (rc < 0) {
		return rc == -ENOENT ? 0 : rc;
	}
	names = fdopendir(place);
	if (!names) {
		rc = -errno;
		close(place);
		return rc;
	}
	for (errno = 0; (found = readdir(names)) != NULL; errno = 0) {
		struct directory_file file = {.shard = place, .name = found->d_name};
		int visited = 0;

		if (strcmp(file.name, ".") != 0 && strcmp(file.name, "..") != 0) {
			file.kind = kind_of(file.name, shard, file.key);
			visited = visit(context, &file);
		}
		rc = rc < 0 ? rc : visited;
	}
	if (errno != 0 && rc == 0) {
		rc = -errno;
	}
	closedir(names);
	return rc == -ENOENT ? 0 : rc;
}

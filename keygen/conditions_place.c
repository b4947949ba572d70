/* SPDX-License-Identifier: MIT */
#include "keygen/conditions_place.h"
#include "keygen/conditions_format.h"

#include <blake2.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define PIECE ((size_t)64 * 1024)

static void close_descriptor(int *descriptor)
{
	if (*descriptor >= 0) {
		(void)close(*descriptor);
	}
	*descriptor = -1;
}

static int open_at(int directory, const char *path, int flags)
{
	int descriptor;

	do {
		descriptor = openat(directory, path, flags | O_CLOEXEC);
	} while (descriptor < 0 && errno == EINTR);
	return descriptor;
}

void place_init(struct place *place)
{
	place->base = 0;
	place->base_set = false;
	place->base_descriptor = -1;
	place->state = PLACE_UNOPENED;
	place->directory = -1;
	place->buffer = NULL;
	place->base_size = 0;
	place->directory_size = 0;
	place->path[0] = '\0'; /* the rest is 4 KiB, and written before it is read */
}

void place_close(struct place *place)
{
	close_descriptor(&place->directory);
	close_descriptor(&place->base_descriptor);
	free(place->buffer);
	place->buffer = NULL;
}

/* The path by the shortest way that is open. */
static const char *short_way(const struct place *place, int *ret_directory)
{
	const char *path = place->path;

	*ret_directory = AT_FDCWD;
	if (place->state == PLACE_OPEN) {
		*ret_directory = place->directory;
		path += place->directory_size;
		return *path ? path : ".";
	}
	if (place->base_descriptor >= 0 && path[place->base_size] == '/') {
		*ret_directory = place->base_descriptor;
		path += place->base_size;
		path += strspn(path, "/");
		return *path ? path : ".";
	}
	return path;
}

static int put(struct place *place, size_t at, const char *text, size_t size)
{
	if (at >= sizeof(place->path) || size >= sizeof(place->path) - at) {
		return -ENAMETOOLONG;
	}
	memcpy(place->path + at, text, size);
	place->path[at + size] = '\0';
	return 0;
}

static int enter_base(struct place *place, const struct place_group *group)
{
	int error;

	if (!place->base_set || place->base != group->base) {
		close_descriptor(&place->base_descriptor);
		place->base = group->base;
		place->base_set = true;
	}
	place->base_size = group->base_size;
	error = put(place, 0, group->base_text, group->base_size);
	if (error == 0 && place->base_descriptor < 0 && (group->hints & HINT_OPEN_BASE)) {
		/* The empty text is the root directory. */
		place->base_descriptor = open_at(AT_FDCWD, group->base_size ? place->path : "/", O_PATH | O_DIRECTORY);
	}
	return error;
}

int place_enter(struct place *place, const struct place_group *group)
{
	const char *way;
	int directory;
	int error;

	place_leave(place);
	error = enter_base(place, group);
	if (error == 0) {
		error = put(place, place->base_size, group->directory, group->directory_size);
	}
	if (error != 0) {
		return error;
	}
	place->directory_size = group->base_size + group->directory_size;
	if (group->directory_size == 0 || !(group->hints & HINT_OPEN_DIRECTORY)) {
		return 0;
	}
	way = short_way(place, &directory);
	place->directory = open_at(directory, way, O_PATH | O_DIRECTORY);
	if (place->directory >= 0) {
		place->state = PLACE_OPEN;
	} else if (errno == ENOENT || errno == ENOTDIR) {
		place->state = PLACE_MISSING;
	}
	return 0;
}

void place_leave(struct place *place)
{
	close_descriptor(&place->directory);
	place->state = PLACE_UNOPENED;
}

int place_name(struct place *place, const char *name, size_t size)
{
	return put(place, place->directory_size, name, size);
}

/*
 * A network file system may answer from what it heard a minute ago; the compiler's open would ask the server, so we do
 * too. It costs nothing on others. Kernels before 4.11 have no statx, and some sandboxes refuse it. Unlike stat(), it
 * mounts what an automounter stands for, unless told not to.
 */
static int stat_anew(int directory, const char *way, struct stat *ret_stat)
{
	struct statx found;

	if (statx(directory, way, AT_STATX_FORCE_SYNC | AT_NO_AUTOMOUNT, STATX_BASIC_STATS, &found) != 0) {
		return errno == ENOSYS || errno == EPERM || errno == EINVAL ? fstatat(directory, way, ret_stat, 0) : -1;
	}
	*ret_stat = (struct stat){
	    .st_dev = makedev(found.stx_dev_major, found.stx_dev_minor),
	    .st_ino = found.stx_ino,
	    .st_mode = found.stx_mode,
	    .st_nlink = found.stx_nlink,
	    .st_uid = found.stx_uid,
	    .st_gid = found.stx_gid,
	    .st_size = (off_t)found.stx_size,
	    .st_mtim = {.tv_sec = found.stx_mtime.tv_sec, .tv_nsec = found.stx_mtime.tv_nsec},
	    .st_ctim = {.tv_sec = found.stx_ctime.tv_sec, .tv_nsec = found.stx_ctime.tv_nsec},
	};
	return 0;
}

int place_stat(const struct place *place, struct stat *ret_stat)
{
	int directory;
	const char *way;

	if (place->state == PLACE_MISSING) {
		return ENOENT;
	}
	way = short_way(place, &directory);
	while (stat_anew(directory, way, ret_stat) != 0) {
		if (errno != EINTR) {
			return errno;
		}
	}
	return 0;
}

bool place_readable(const struct place *place, const struct stat *stat)
{
	const mode_t all = S_IRUSR | S_IRGRP | S_IROTH;
	int directory;
	const char *way;

	if ((stat->st_mode & all) == all || (stat->st_uid == geteuid() && (stat->st_mode & S_IRUSR))) {
		return true;
	}
	way = short_way(place, &directory);
	return faccessat(directory, way, R_OK, AT_EACCESS) == 0;
}

static bool same_stat(const struct stat *one, const struct stat *other)
{
	return one->st_dev == other->st_dev && one->st_ino == other->st_ino && one->st_size == other->st_size &&
	       one->st_mtim.tv_sec == other->st_mtim.tv_sec && one->st_mtim.tv_nsec == other->st_mtim.tv_nsec &&
	       one->st_ctim.tv_sec == other->st_ctim.tv_sec && one->st_ctim.tv_nsec == other->st_ctim.tv_nsec;
}

static bool is_still(int descriptor, const struct stat *expected)
{
	struct stat now;

	return fstat(descriptor, &now) == 0 && same_stat(&now, expected);
}

static int digest_descriptor(struct place *place, int descriptor, const struct stat *expected, struct key *ret_digest)
{
	blake2b_state state;
	uint64_t total = 0;
	struct key digest;
	ssize_t got;

	if (blake2b_init(&state, KEY_BYTES) != 0) {
		return -EIO;
	}
	/* A file that grows for ever ends the loop too. */
	while (total <= (uint64_t)expected->st_size && (got = read(descriptor, place->buffer, PIECE)) != 0) {
		if (got > 0) {
			total += (uint64_t)got;
			blake2b_update(&state, place->buffer, (size_t)got);
		} else if (errno != EINTR) {
			return -EIO;
		}
	}
	if (total != (uint64_t)expected->st_size || !is_still(descriptor, expected)) {
		return -EBUSY;
	}
	blake2b_final(&state, digest.bytes, KEY_BYTES);
	*ret_digest = digest;
	return 0;
}

int place_digest(struct place *place, const struct stat *stat, struct key *ret_digest)
{
	int directory;
	const char *way = short_way(place, &directory);
	int descriptor;
	int error = -EBUSY;

	if (!place->buffer) {
		place->buffer = malloc(PIECE);
	}
	if (!place->buffer) {
		return -ENOMEM;
	}
	/* What was a regular file a moment ago may be a FIFO now. */
	descriptor = open_at(directory, way, O_RDONLY | O_NONBLOCK | O_NOCTTY);
	if (descriptor < 0) {
		return -errno;
	}
	if (is_still(descriptor, stat)) {
		error = digest_descriptor(place, descriptor, stat, ret_digest);
	}
	close_descriptor(&descriptor);
	return error;
}

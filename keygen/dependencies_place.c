/* SPDX-License-Identifier: MIT */
/*
 * Every look-up uses the shortest relative path for which a directory descriptor is open. If a directory cannot be
 * opened, look-ups use the whole path, which is only slower.
 */
#include "keygen/dependencies_place.h"
#include "keygen/dependencies_format.h"

#include <blake2.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PIECE   ((size_t)64 * 1024)
#define NO_BASE UINT32_C(0xfffffffd) /* no root has this number */

static void close_descriptor(int *descriptor)
{
	if (*descriptor >= 0) {
		(void)close(*descriptor);
	}
	*descriptor = -1;
}

/* Repeats an open that a signal of the host interrupted, because the host does not know of it and cannot repeat it. */
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
	place->base = NO_BASE;
	place->base_descriptor = -1;
	place->directory = -1;
	place->path[0] = '\0'; /* the rest is written before it is read */
}

void place_close(struct place *place)
{
	close_descriptor(&place->directory);
	close_descriptor(&place->base_descriptor);
}

/* Returns the path relative to the innermost open directory. */
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

static int put_text(struct place *place, size_t at, const char *text, size_t size)
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

	if (place->base != group->base) {
		close_descriptor(&place->base_descriptor);
		place->base = group->base;
		place->missing_size = 0;
	}
	place->base_size = group->base_size;
	error = put_text(place, 0, group->base_text, group->base_size);
	if (error == 0 && place->base_descriptor < 0 && (group->hints & HINT_OPEN_BASE)) {
		/* The text of the root directory is empty. */
		place->base_descriptor = open_at(AT_FDCWD, group->base_size ? place->path : "/", O_PATH | O_DIRECTORY);
	}
	return error;
}

static bool is_absence(int error)
{
	return error == ENOENT || error == ENOTDIR;
}

static bool lies_in_missing(const struct place *place, const struct place_group *group)
{
	return place->missing_size > 0 && group->directory_size >= place->missing_size &&
	       memcmp(group->directory, place->missing, place->missing_size) == 0;
}

/* Groups are sorted, so those inside a missing directory come next, and are missing too. */
static void open_directory(struct place *place, const struct place_group *group)
{
	const char *way;
	int directory;

	way = short_way(place, &directory);
	place->directory = open_at(directory, way, O_PATH | O_DIRECTORY);
	if (place->directory >= 0) {
		place->state = PLACE_OPEN;
	} else if (is_absence(errno)) {
		place->state = PLACE_MISSING;
		place->missing_error = errno;
		place->missing = group->directory;
		place->missing_size = group->directory_size;
	}
}

int place_enter(struct place *place, const struct place_group *group)
{
	int error;

	close_descriptor(&place->directory);
	place->state = PLACE_UNOPENED;
	error = enter_base(place, group);
	if (error == 0) {
		error = put_text(place, place->base_size, group->directory, group->directory_size);
	}
	if (error != 0) {
		return error;
	}
	place->directory_size = group->base_size + group->directory_size;
	if (lies_in_missing(place, group)) {
		place->state = PLACE_MISSING;
	} else if (group->directory_size > 0 && (group->hints & HINT_OPEN_DIRECTORY)) {
		open_directory(place, group);
	}
	return 0;
}

int place_name(struct place *place, const char *name, size_t size)
{
	return put_text(place, place->directory_size, name, size);
}

int place_look(const struct place *place, struct file_stamp *ret_stamp, uint64_t *ret_mount)
{
	int directory;
	const char *way;

	if (place->state == PLACE_MISSING) {
		return place->missing_error;
	}
	way = short_way(place, &directory);
	return stamp_look(directory, way, ret_stamp, ret_mount);
}

/* Stats the descriptor, because the path may name another file now. */
static bool is_still(int descriptor, const struct file_stamp *expected)
{
	struct file_stamp now;
	struct stat stat;

	if (fstat(descriptor, &stat) != 0) {
		return false;
	}
	file_stamp_from(&stat, &now);
	return file_stamp_same(&now, expected);
}

/* O_NONBLOCK: the path may name a FIFO now, whose open would block. */
static int open_file(const struct place *place)
{
	int directory;
	const char *way = short_way(place, &directory);

	return open_at(directory, way, O_RDONLY | O_NONBLOCK | O_NOCTTY);
}

int place_open(const struct place *place)
{
	int descriptor = open_file(place);
	int error = descriptor < 0 ? -errno : 0;

	close_descriptor(&descriptor);
	return error;
}

static int digest_descriptor(int descriptor, const struct file_stamp *expected, uint8_t *buffer, struct key *ret_digest)
{
	blake2b_state state;
	uint64_t total = 0;
	struct key digest;
	ssize_t got;

	if (blake2b_init(&state, KEY_BYTES) != 0) {
		return -EIO;
	}
	/* The limit ends the loop for a file that keeps growing. */
	while (total <= expected->size && (got = read(descriptor, buffer, PIECE)) != 0) {
		if (got > 0) {
			total += (uint64_t)got;
			blake2b_update(&state, buffer, (size_t)got);
		} else if (errno != EINTR) {
			return -EIO;
		}
	}
	if (total != expected->size || !is_still(descriptor, expected)) {
		return -EBUSY;
	}
	blake2b_final(&state, digest.bytes, KEY_BYTES);
	*ret_digest = digest;
	return 0;
}

int place_digest(const struct place *place, const struct file_stamp *expected, struct key *ret_digest)
{
	uint8_t *buffer = malloc(PIECE);
	int descriptor = buffer ? open_file(place) : -1;
	int error = -EBUSY;

	if (descriptor < 0) {
		error = buffer ? -errno : -ENOMEM;
	} else if (is_still(descriptor, expected)) {
		error = digest_descriptor(descriptor, expected, buffer, ret_digest);
	}
	close_descriptor(&descriptor);
	free(buffer);
	return error;
}

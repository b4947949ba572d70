/* SPDX-License-Identifier: MIT */
#include "tests/faults/states.h"

#include "tests/faults/stage.h"
#include "tests/faults/tree.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <unistd.h>

#define PLACES_MAX 12

enum kind {
	NOTHING,
	FIFO,
	LINK_TO_FIFO,
	LINK_TO_DEVICE,
	LINK_TO_FILE,
	LINK_TO_DIRECTORY,
	LINK_TO_NOTHING,
	HARD_LINK_TO_FILE,
	SOCKET,
	DEVICE,
	EMPTY_DIRECTORY,
	FULL_DIRECTORY,
	EMPTY_FILE,
	GARBAGE,
	HUGE_FILE,
	WRITABLE_BY_ALL,
	ANOTHER_USERS,
	CLOSED,
	KINDS
};

static const char *const kind_name[KINDS] = {
    "nothing",
    "a FIFO",
    "a link to a FIFO",
    "a link to a device",
    "a link to a file",
    "a link to a directory",
    "a link to nothing",
    "a hard link to a file",
    "a socket",
    "a device",
    "an empty directory",
    "a full directory",
    "an empty file",
    "garbage",
    "a huge file with a hole",
    "writable by all",
    "another user's",
    "without any permission",
};

static const struct job jobs[] = {{PROGRAM_PLAIN, WORLD_A, LIBRARY_13}, {PROGRAM_PLAIN, WORLD_B, LIBRARY_13}};
static const struct process host = {.jobs = jobs, .count = 2};

static char places[PLACES_MAX][200];
static size_t place_count;

static void add_place(const char *name)
{
	if (place_count < PLACES_MAX) {
		snprintf(places[place_count++], sizeof(places[0]), "cache%s%s", *name ? "/" : "", name);
	}
}

static void find_places(void *context, const char *path, const char *name, const struct stat *found)
{
	(void)context;
	(void)path;
	(void)found;
	if (strlen(name) == 68) {
		char shard[8];

		snprintf(shard, sizeof(shard), "%.5s", name);
		add_place(shard);
	}
	add_place(name);
}

static bool begin(void)
{
	struct seen *seen = stage_seen(0);

	place_count = 0;
	if (!tree_remove(stage_path("cache")) || !tree_remove(stage_path("template")) ||
	    stage_judge(stage_run(&host, seen), &host, seen)) {
		return false;
	}
	add_place("");
	add_place("v1");
	add_place("v1/stats");
	tree_walk(stage_path("cache"), find_places, NULL);
	return rename(stage_path("cache"), stage_path("template")) == 0;
}

/* What lies outside, and must stay as it is. */
static bool put_outside(void)
{
	return tree_remove(stage_path("outside")) && mkdir(stage_path("outside"), 0700) == 0 &&
	       tree_write(stage_path("outside/victim"), "victim", 6) &&
	       tree_age(stage_path("outside/victim"), 100000) && mkfifo(stage_path("outside/fifo"), 0600) == 0;
}

static bool outside_is_same(const struct stat *before)
{
	struct stat now;
	char *bytes = NULL;
	size_t size = 0;
	bool same = lstat(stage_path("outside/victim"), &now) == 0 && now.st_mtim.tv_sec == before->st_mtim.tv_sec &&
	            now.st_mode == before->st_mode && tree_read(stage_path("outside/victim"), &bytes, &size) &&
	            size == 6 && memcmp(bytes, "victim", 6) == 0;

	free(bytes);
	return same;
}

static bool make_socket(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "s"};
	int holder = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	bool good = chdir(stage_path("outside")) == 0 &&
	            bind(holder, (struct sockaddr *)&address, sizeof(address)) == 0 && rename("s", path) == 0;

	if (holder >= 0) {
		close(holder);
	}
	return good;
}

static bool make_full_directory(const char *path)
{
	char inner[600];

	snprintf(inner, sizeof(inner), "%s/tmp.kept", path);
	return mkdir(path, 0700) == 0 && tree_write(inner, "kept", 4);
}

/* Puts a thing of that kind into the place; false: not possible here. */
static bool put(enum kind kind, const char *path)
{
	if (kind < WRITABLE_BY_ALL && !tree_remove(path)) {
		return false;
	}
	switch (kind) {
	case NOTHING:
		return true;
	case FIFO:
		return mkfifo(path, 0600) == 0;
	case LINK_TO_FIFO:
		return symlink(stage_path("outside/fifo"), path) == 0;
	case LINK_TO_DEVICE:
		return symlink("/dev/zero", path) == 0;
	case LINK_TO_FILE:
		return symlink(stage_path("outside/victim"), path) == 0;
	case LINK_TO_DIRECTORY:
		return symlink(stage_path("outside"), path) == 0;
	case LINK_TO_NOTHING:
		return symlink(stage_path("outside/none"), path) == 0;
	case HARD_LINK_TO_FILE:
		return tree_write(stage_path("outside/other"), "other", 5) &&
		       link(stage_path("outside/other"), path) == 0;
	case SOCKET:
		return make_socket(path);
	case DEVICE:
		return mknod(path, S_IFCHR | 0600, makedev(1, 5)) == 0;
	case EMPTY_DIRECTORY:
		return mkdir(path, 0700) == 0;
	case FULL_DIRECTORY:
		return make_full_directory(path);
	case EMPTY_FILE:
		return tree_write(path, "", 0);
	case GARBAGE:
		return tree_write(path, "garbage of some length, but not of much", 39);
	case HUGE_FILE:
		return tree_write(path, "", 0) && truncate(path, (off_t)1 << 40) == 0;
	case WRITABLE_BY_ALL:
		return chmod(path, 0777) == 0;
	case ANOTHER_USERS:
		return lchown(path, 12345, 12345) == 0;
	case CLOSED:
		return chmod(path, 0) == 0;
	case KINDS:
		break;
	}
	return false;
}

/* Whatever stands in the place of a file, results are found; not where it stands in the place of a directory. */
static unsigned expected(const char *place, enum kind kind)
{
	bool result = strlen(place) == strlen("cache/") + 68;
	bool file = result || (strncmp(place, "cache/v1/", 9) == 0 && strlen(place) > 11);

	return kind == NOTHING || (file && !(result && kind == FULL_DIRECTORY)) ? EXAMINE_HITS : 0;
}

static void try_kind(enum kind kind)
{
	unsigned wrong_count = 0, tried = 0;

	for (size_t i = 0; i < place_count; i++) {
		const char *wrong = "the state cannot be made";
		struct stat victim;

		if (!tree_remove(stage_path("cache")) || !tree_copy(stage_path("template"), stage_path("cache")) ||
		    !put_outside() || lstat(stage_path("outside/victim"), &victim) != 0) {
			stage_note("%s", wrong);
			wrong_count++;
			continue;
		}
		if (!put(kind, stage_path(places[i]))) {
			continue;
		}
		tried++;
		wrong = stage_examine(&host, expected(places[i], kind));
		if (!wrong && !outside_is_same(&victim)) {
			wrong = "a file outside was changed";
		}
		if (wrong) {
			stage_note("%s is %s: %s", places[i], kind_name[kind], wrong);
			wrong_count++;
		}
	}
	if (tried == 0 && wrong_count == 0) {
		stage_result(true, "%s in each place of ours # SKIP it cannot be made here", kind_name[kind]);
	} else {
		stage_result(wrong_count == 0, "%s in each place of ours: %u places, %u wrong", kind_name[kind], tried,
		             wrong_count);
	}
}

void odd_places(const struct sweep *sweep)
{
	(void)sweep;
	if (!begin()) {
		stage_result(false, "a directory is made");
		return;
	}
	for (int kind = 0; kind < KINDS; kind++) {
		try_kind((enum kind)kind);
	}
}

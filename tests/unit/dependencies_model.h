/* SPDX-License-Identifier: MIT */
/* A naive model of dependencies: random paths, random edits, and the right answer, found with a stat and a read of
 * every path. */
#ifndef TESTS_UNIT_DEPENDENCIES_MODEL_H
#define TESTS_UNIT_DEPENDENCIES_MODEL_H

#include "tests/unit/dependencies_fixture.h"

#define PATHS 24
#define NAMES 6

static uint64_t random_state;

static inline unsigned pick(unsigned below)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (unsigned)(random_state >> 33) % below;
}

static const char *const directories[] = {"", "d/", "d/e/", "link/", "none/", "d/../", "d//", "mnt/", "mnt/"};
static unsigned directory_count = 7; /* 9: something is mounted at mnt */
static const char *const names[] = {"a.h", "b.h", "c.h", "x", "", "."};
static const char *const contents[] = {"one", "two", "three", ""};

/* A path below the tree, relative to it. */
static inline void any_path(char *ret_path, size_t size)
{
	const char *directory = directories[pick(directory_count)];

	snprintf(ret_path, size, "%s%s", directory, names[pick(NAMES)]);
}

/* What the model sees at a path. */
struct sight {
	char path[64];
	bool absolute;
	bool opened;
	bool there;
	bool refused; /* it cannot be opened */
	int error;    /* a log may say why a path is absent */
	struct stat stat;
	char content[16];
};

static struct sight before[PATHS];

static inline void spell(const struct sight *sight, char *ret_path, size_t size)
{
	if (sight->absolute) {
		snprintf(ret_path, size, "%.*s/%.*s", PATH_MAX, tree, (int)sizeof(sight->path), sight->path);
	} else {
		snprintf(ret_path, size, "%s", sight->path);
	}
}

static inline void look_at(struct sight *sight)
{
	char path[PATH_MAX * 2];
	int file;

	spell(sight, path, sizeof(path));
	memset(sight->content, 0, sizeof(sight->content));
	memset(&sight->stat, 0, sizeof(sight->stat));
	sight->there = stat(path, &sight->stat) == 0;
	sight->error = sight->there ? 0 : errno;
	if (sight->there && S_ISREG(sight->stat.st_mode)) {
		file = open(path, O_RDONLY | O_CLOEXEC);
		sight->refused = file < 0;
		if (file >= 0) {
			cr_assert_geq(read(file, sight->content, sizeof(sight->content)), 0);
			close(file);
		}
	}
}

static inline bool same_inode(const struct sight *one, const struct sight *other)
{
	return one->stat.st_dev == other->stat.st_dev && one->stat.st_ino == other->stat.st_ino;
}

static inline bool same_time(const struct stat *one, const struct stat *other)
{
	return one->st_size == other->st_size && one->st_mtim.tv_sec == other->st_mtim.tv_sec &&
	       one->st_mtim.tv_nsec == other->st_mtim.tv_nsec;
}

/* Returns true if every path has the same state as before. */
static inline bool model_holds(unsigned count)
{
	struct sight now[PATHS];

	for (unsigned i = 0; i < count; i++) {
		now[i] = before[i];
		look_at(&now[i]);
		if (now[i].there != before[i].there || now[i].error != before[i].error ||
		    (now[i].stat.st_mode & S_IFMT) != (before[i].stat.st_mode & S_IFMT)) {
			return false;
		}
		if (before[i].opened && now[i].there && now[i].refused) {
			return false;
		}
		if (before[i].opened && memcmp(now[i].content, before[i].content, sizeof(now[i].content)) != 0) {
			return false;
		}
		if (input.exact && S_ISREG(now[i].stat.st_mode) && !same_time(&now[i].stat, &before[i].stat)) {
			return false;
		}
	}
	for (unsigned i = 0; i < count; i++) {
		for (unsigned j = 0; j < i; j++) {
			if (before[i].there && before[j].there &&
			    same_inode(&now[i], &now[j]) != same_inode(&before[i], &before[j])) {
				return false;
			}
		}
	}
	return true;
}

/* Makes one change; many fail, which does no harm. Half of the changes that write a file create a new inode. */
static inline void edit(void)
{
	char path[64], other[64];
	struct stat found;
	bool existed;
	int file;

	any_path(path, sizeof(path));
	any_path(other, sizeof(other));
	existed = stat(path, &found) == 0;
	switch (pick(9)) {
	case 0:
	case 1: /* new content, often of the same size and with the old time */
		file = open(path, O_WRONLY | O_CLOEXEC | O_TRUNC | (pick(2) ? O_CREAT : 0), 0644);
		if (file >= 0) {
			const char *text = contents[pick(4)];

			cr_assert_eq(write(file, text, strlen(text)), (ssize_t)strlen(text));
			close(file);
			if (existed && pick(2)) {
				utimensat(AT_FDCWD, path, (struct timespec[]){found.st_atim, found.st_mtim}, 0);
			}
		}
		break;
	case 2:
		unlink(path);
		break;
	case 3:
		utimensat(AT_FDCWD, path, NULL, 0);
		break;
	case 4:
		rename(path, other);
		break;
	case 5:
		unlink(other);
		if (link(path, other) != 0) {
			errno = 0;
		}
		break;
	case 6:
		unlink(path);
		if (symlink(names[pick(3)], path) != 0) {
			errno = 0;
		}
		break;
	case 7:
		mkdir(path, 0755);
		break;
	default:
		rmdir(path);
		break;
	}
}

static inline unsigned new_trace(unsigned round)
{
	unsigned count = 1 + pick(PATHS);
	char path[PATH_MAX * 2];

	trace_free(&trace);
	trace_init(&trace, now_ns());
	for (unsigned i = 0; i < count; i++) {
		struct sight *sight = &before[i];

		any_path(sight->path, sizeof(sight->path));
		sight->absolute = pick(2);
		look_at(sight);
		sight->opened = pick(2) && (!sight->there || S_ISREG(sight->stat.st_mode));
		spell(sight, path, sizeof(path));
		see_stat(path);
		if (sight->opened) {
			see_open(path);
		}
	}
	input.has_memory_headers = true; /* every probe is a dependency */
	input.exact = round % 5 == 0;
	return count;
}

#endif

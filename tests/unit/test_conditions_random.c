/* SPDX-License-Identifier: MIT */
/*
 * Random trees, traces and edits: conditions_hold() must say what a naive model says, which stats and reads everything.
 * CONDITIONS_SEED and CONDITIONS_ROUNDS repeat or lengthen a run.
 */
#include "tests/unit/conditions_fixture.h"

#define PATHS 24
#define NAMES 6

static uint64_t random_state;

static unsigned pick(unsigned below)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (unsigned)(random_state >> 33) % below;
}

static const char *const directories[] = {"", "d/", "d/e/", "link/", "none/", "d/../", "d//"};
static const char *const names[] = {"a.h", "b.h", "c.h", "x", "", "."};
static const char *const contents[] = {"one", "two", "three", ""};

/* A path below the tree, relative to it. */
static void any_path(char *ret_path, size_t size)
{
	const char *directory = directories[pick(sizeof(directories) / sizeof(directories[0]))];

	snprintf(ret_path, size, "%s%s", directory, names[pick(NAMES)]);
}

/* What the model sees at a path. */
struct sight {
	char path[64];
	bool absolute;
	bool opened;
	bool there;
	int error; /* a loop of links is another absence than none */
	struct stat stat;
	char content[16];
};

static struct sight before[PATHS];

static void spell(const struct sight *sight, char *ret_path, size_t size)
{
	if (sight->absolute) {
		snprintf(ret_path, size, "%.*s/%.*s", PATH_MAX, tree, (int)sizeof(sight->path), sight->path);
	} else {
		snprintf(ret_path, size, "%s", sight->path);
	}
}

static void look_at(struct sight *sight)
{
	char path[PATH_MAX * 2];
	int file;

	spell(sight, path, sizeof(path));
	memset(sight->content, 0, sizeof(sight->content));
	memset(&sight->stat, 0, sizeof(sight->stat));
	sight->there = stat(path, &sight->stat) == 0;
	sight->error = sight->there ? 0 : errno == ENOTDIR ? ENOENT : errno;
	if (sight->there && S_ISREG(sight->stat.st_mode)) {
		file = open(path, O_RDONLY | O_CLOEXEC);
		cr_assert_geq(read(file, sight->content, sizeof(sight->content)), 0);
		close(file);
	}
}

static bool same_inode(const struct sight *one, const struct sight *other)
{
	return one->stat.st_dev == other->stat.st_dev && one->stat.st_ino == other->stat.st_ino;
}

static bool same_time(const struct stat *one, const struct stat *other)
{
	return one->st_size == other->st_size && one->st_mtim.tv_sec == other->st_mtim.tv_sec &&
	       one->st_mtim.tv_nsec == other->st_mtim.tv_nsec;
}

/* Does everything look as it did? */
static bool model_holds(unsigned count)
{
	struct sight now[PATHS];

	for (unsigned i = 0; i < count; i++) {
		now[i] = before[i];
		look_at(&now[i]);
		/* What became plainly absent is as absent as what was so in another way. */
		if (now[i].there != before[i].there || (now[i].error != before[i].error && now[i].error != ENOENT) ||
		    (now[i].stat.st_mode & S_IFMT) != (before[i].stat.st_mode & S_IFMT)) {
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

/* One change; many fail, which is as good. Whatever makes a file writes to a new inode half of the time. */
static void edit(void)
{
	char path[64];
	char other[64];
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

static void new_tree(unsigned round)
{
	cr_assert_eq(chdir("/"), 0);
	remove_tree(tree);
	cr_assert_eq(mkdir(tree, 0700), 0);
	cr_assert_eq(chdir(tree), 0);
	put_directory("d");
	put_directory("d/e");
	cr_assert_eq(symlink("d/e", "link"), 0);
	for (int i = 0; i < 12; i++) {
		edit();
	}
	/* Settled files in one round, racy ones in the next: the answer must be the same. */
	if (round % 2 == 0) {
		usleep(25000);
	}
}

static unsigned new_trace(unsigned round)
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
	input.has_memory_headers = true; /* every probe counts */
	input.exact = round % 5 == 0;
	return count;
}

TestSuite(conditions_random, .init = tree_begin, .fini = tree_end);

Test(conditions_random, agrees_with_the_naive_model, .timeout = 300)
{
	const char *seed = getenv("CONDITIONS_SEED");
	const char *rounds = getenv("CONDITIONS_ROUNDS");
	unsigned last = rounds ? (unsigned)atoi(rounds) : 120;
	unsigned held = 0;
	unsigned checks = 0;

	random_state = seed ? strtoull(seed, NULL, 0) : (uint64_t)now_ns();
	cr_log_info("CONDITIONS_SEED=%#llx", (unsigned long long)random_state);
	uint64_t first = random_state;

	add_root(tree, false);
	for (unsigned round = 0; round < last; round++) {
		tree_roots.count = round % 3 ? 1 : 0;
		new_tree(round);
		unsigned count = new_trace(round);

		build();
		for (int edits = 0; edits < 12; edits++) {
			bool expected = model_holds(count);
			bool got = holds();

			checks++;
			held += got;
			cr_assert_eq(got, expected,
			             "CONDITIONS_SEED=%#llx round %u edit %d: says %d (%s), model says %d",
			             (unsigned long long)first, round, edits, got, why, expected);
			edit();
		}
	}
	tree_roots.count = 1;
	cr_log_info("%u checks, %u held", checks, held);
	cr_assert(last < 100 || (held > checks / 20 && held < checks - checks / 20),
	          "the edits do not try both answers: %u of %u held", held, checks);
}

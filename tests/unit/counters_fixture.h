/* SPDX-License-Identifier: MIT */
/* counters_fixture: a private directory for counters (`root`, which does not exist yet), and functions that read it */
#ifndef COUNTERS_FIXTURE_H
#define COUNTERS_FIXTURE_H

#include "cache/counters.h"
#include "tests/unit/support.h"

#define HITS   COUNTER_TOTAL_hits_memory
#define MISSES COUNTER_TOTAL_misses

/* Criterion gives every test a process of its own, so every test begins with counts of zero. */
static char root[4200];
static char file[4300];

static inline void set_up(void)
{
	own_directory_make();
	snprintf(root, sizeof(root), "%s/a/b/cache", own_directory);
	snprintf(file, sizeof(file), "%s/v1/stats/%02x", root, (unsigned)getpid() & 15);
}

static inline uint64_t total(enum counter counter)
{
	uint64_t values[COUNTER_COUNT];

	cr_assert_eq(counters_read(root, values, NULL), 0);
	return values[counter];
}

/* Counts, and writes that at once or when it is due. */
static inline void count(enum counter counter, uint64_t number, enum counters_when when)
{
	counters_add(counter, number);
	cr_assert_eq(counters_flush(root, COUNTERS_WRITABLE, when), 0);
}

static inline bool exists(const char *path)
{
	return access(path, F_OK) == 0;
}

static inline void damage(off_t at, unsigned char flip)
{
	unsigned char byte;
	int fd = open(file, O_RDWR);

	cr_assert_geq(fd, 0);
	cr_assert_eq(pread(fd, &byte, 1, at), 1);
	byte ^= flip;
	cr_assert_eq(pwrite(fd, &byte, 1, at), 1);
	close(fd);
}

static inline off_t file_size(void)
{
	struct stat found;

	cr_assert_eq(stat(file, &found), 0);
	return found.st_size;
}

/* Forks until the child's counts go to the same file as those of `like`; other children exit at once. Returns 0 in the
 * child. */
static inline pid_t fork_to_file_of(pid_t like)
{
	for (;;) {
		pid_t child = fork();

		cr_assert_geq(child, 0);
		if (child == 0) {
			if (((getpid() ^ like) & 15) != 0) {
				_exit(0);
			}
			return 0;
		}
		if (((child ^ like) & 15) == 0) {
			return child;
		}
		(void)exit_of(child);
	}
}

#endif

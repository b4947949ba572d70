/* SPDX-License-Identifier: MIT */
/*
 * timing: the clock, medians, and how the lives of things are told: "first", "median" of the others, and "life"
 */
#ifndef TESTS_BENCH_TIMING_H
#define TESTS_BENCH_TIMING_H

#include "tests/files.h"

#include <time.h>

/* A file's bytes, with a NUL behind them; ends the program if it cannot be read. */
static inline char *must_read(const char *path, size_t *ret_size)
{
	char *bytes = file_read(path, ret_size);

	if (!bytes) {
		perror(path);
		exit(2);
	}
	return bytes;
}

static inline int64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static inline int compare_times(const void *a, const void *b)
{
	int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;

	return (left > right) - (left < right);
}

/* Of sorted times, the one at a place. */
static inline int64_t sorted_at(int64_t *times, size_t count, size_t at)
{
	qsort(times, count, sizeof(*times), compare_times);
	return times[at];
}

/* `marks`: of each round, `steps` beginnings and the end of the last one. */
static inline void tell_lives(const int64_t *marks, int rounds, int steps)
{
	int64_t *column = calloc((size_t)rounds + 1, sizeof(*column));

	for (int step = 0; step < steps; step++) {
		printf("%s %lld", step ? "" : "first", (long long)(marks[step + 1] - marks[step]));
	}
	for (int step = 0; rounds > 0 && step <= steps; step++) {
		/* the last time: the whole life */
		int from = step < steps ? step : 0, to = step < steps ? step + 1 : steps;

		for (int i = 0; i < rounds; i++) {
			column[i] = marks[(i + 1) * (steps + 1) + to] - marks[(i + 1) * (steps + 1) + from];
		}
		printf("%s %lld",
		       step == 0      ? "\nmedian"
		       : step < steps ? ""
		                      : "\nlife",
		       (long long)sorted_at(column, (size_t)rounds, (size_t)rounds / 2));
	}
	printf("\n");
	free(column);
}

#endif

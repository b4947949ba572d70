/* SPDX-License-Identifier: MIT */
/*
 * One number says when a file was last used, and its last digits whether the next hit is to be shown. Both live in the
 * atime, so that eviction needs one stat() per file and no file of its own.
 */
#include "cache/recency.h"

#include <errno.h>
#include <fcntl.h>
#include <time.h>

#define SECOND_NS INT64_C(1000000000)
#define GRAIN_NS  1000
/* What short-lived files are ranked below others by: more than any time of use, with room for the sums of others. */
#define RANK_BELOW (INT64_C(1) << 62)

int64_t recency_now(void)
{
	struct timespec now = {0};

	(void)clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * SECOND_NS + now.tv_nsec;
}

/* Times from other systems may lie beyond what 64 bits of nanoseconds hold, or before 1970. */
static int64_t nanoseconds(struct timespec time)
{
	if (time.tv_sec > INT64_MAX / SECOND_NS - 1) {
		return INT64_MAX;
	}
	return time.tv_sec < 0 ? 0 : (int64_t)time.tv_sec * SECOND_NS + time.tv_nsec;
}

/* mtime too: a file that was copied with its old atime was written here later than that. */
int64_t recency_of(const struct stat *found)
{
	int64_t accessed = nanoseconds(found->st_atim);
	int64_t written = nanoseconds(found->st_mtim);

	return accessed > written ? accessed : written;
}

/* No kernel sets such an atime by itself unless by chance, once in a thousand times; that costs one utimensat(). */
enum recency_mark recency_mark_of(const struct stat *found)
{
	switch (found->st_atim.tv_nsec % GRAIN_NS) {
	case RECENCY_MARKED:
		return RECENCY_MARKED;
	case RECENCY_SHORT_LIVED:
		return RECENCY_SHORT_LIVED;
	default:
		return RECENCY_USED;
	}
}

static int64_t rank_of(int64_t used, enum recency_mark mark)
{
	return mark == RECENCY_SHORT_LIVED && used < RANK_BELOW ? used - RANK_BELOW : used;
}

int64_t recency_rank(const struct stat *found)
{
	return rank_of(recency_of(found), recency_mark_of(found));
}

int64_t recency_of_rank(int64_t rank)
{
	return rank < 0 ? rank + RANK_BELOW : rank;
}

bool recency_ahead(int64_t used, int64_t now)
{
	return used - RECENCY_PERIOD_NS > now;
}

bool recency_due(const struct stat *found, int64_t now)
{
	int64_t used = recency_of(found);

	return recency_mark_of(found) != RECENCY_USED || now - used >= RECENCY_PERIOD_NS || recency_ahead(used, now);
}

/* mtime is left alone: eviction and removal of damaged files compare it. */
static int64_t make_times(struct timespec times[2], int64_t now, enum recency_mark mark)
{
	int64_t stamp = now - now % GRAIN_NS + mark;

	times[0] = (struct timespec){.tv_sec = (time_t)(stamp / SECOND_NS), .tv_nsec = (long)(stamp % SECOND_NS)};
	times[1] = (struct timespec){.tv_nsec = UTIME_OMIT};
	return rank_of(stamp, mark);
}

/*
 * Another user's file allows the present only (utimensat() with times is for the owner). A file written in the
 * future needs that too, or it would always be the newest.
 */
static int64_t set_times(int at, const char *path, const struct stat *found, int64_t now, enum recency_mark mark)
{
	bool written_ahead = recency_ahead(nanoseconds(found->st_mtim), now);
	struct timespec times[2];
	int64_t rank = make_times(times, now, mark);

	if (written_ahead || (utimensat(at, path, times, AT_SYMLINK_NOFOLLOW) < 0 && errno == EPERM)) {
		(void)utimensat(at, path, NULL, AT_SYMLINK_NOFOLLOW);
	}
	return rank;
}

void recency_touch(int at, const char *path, const struct stat *found, int64_t now)
{
	(void)set_times(at, path, found, now, RECENCY_USED);
}

int64_t recency_mark(int at, const char *path, const struct stat *found, int64_t now)
{
	return set_times(at, path, found, now, RECENCY_MARKED);
}

int64_t recency_mark_file(int file, int64_t now, enum recency_mark mark)
{
	struct timespec times[2];
	int64_t rank = make_times(times, now, mark);

	(void)futimens(file, times);
	return rank;
}

/* SPDX-License-Identifier: MIT */
/*
 * The atime holds both the time of use and, in its last three digits, the mark. Therefore eviction needs one stat() per
 * file and no additional file.
 */
#include "cache/recency.h"

#include "cache/calls.h"

#include <errno.h>

#define SECOND_NS INT64_C(1000000000)
#define GRAIN_NS  1000

int64_t recency_now(void)
{
	return call_clock_ns(CLOCK_REALTIME);
}

/* Converts to nanoseconds. Times from other systems may be before 1970 or too large for 64 bits: they are clamped. */
static int64_t nanoseconds_of(struct timespec time)
{
	if (time.tv_sec > INT64_MAX / SECOND_NS - 1) {
		return INT64_MAX;
	}
	return time.tv_sec < 0 ? 0 : (int64_t)time.tv_sec * SECOND_NS + time.tv_nsec;
}

/* mtime counts too: a file that was copied together with its old atime was written here later than that. */
int64_t recency_of(const struct stat *found)
{
	int64_t accessed = nanoseconds_of(found->st_atim);
	int64_t written = nanoseconds_of(found->st_mtim);

	return accessed > written ? accessed : written;
}

/* Clocks of two nodes differ a little, and files are used while this process works. */
int64_t recency_past(int64_t used, int64_t now)
{
	if (used <= now || used - now < RECENCY_PERIOD_NS) {
		return used < now ? used : now;
	}
	return used < 2 * now ? 2 * now - used : 0;
}

/* An atime that the kernel sets looks marked once in a thousand times by chance. That costs one utimensat(). */
enum recency_mark recency_mark_of(const struct stat *found)
{
	long mark = found->st_atim.tv_nsec % GRAIN_NS;

	return mark <= RECENCY_SHORT_LIVED ? (enum recency_mark)mark : RECENCY_USED;
}

/* Most hits within the hour after the first one do not show in the time, so the file may have been used until now. */
int64_t recency_order(const struct stat *found, int64_t now)
{
	int64_t used = recency_past(recency_of(found), now);

	if (recency_mark_of(found) == RECENCY_SHORT_LIVED) {
		return used - RECENCY_FIRST;
	}
	return recency_mark_of(found) == RECENCY_USED && now - used < RECENCY_PERIOD_NS ? now : used;
}

bool recency_due(const struct stat *found, int64_t now)
{
	return recency_mark_of(found) != RECENCY_USED ||
	       now - recency_past(recency_of(found), now) >= RECENCY_PERIOD_NS;
}

/* Omits mtime: eviction uses it as a lower bound of the time of use, and removal of damaged files compares it. */
static void make_times(struct timespec times[2], int64_t now, enum recency_mark mark)
{
	int64_t stamp = now - now % GRAIN_NS + mark;

	times[0] = (struct timespec){.tv_sec = (time_t)(stamp / SECOND_NS), .tv_nsec = (long)(stamp % SECOND_NS)};
	times[1] = (struct timespec){.tv_nsec = UTIME_OMIT};
}

/*
 * Only the owner may set arbitrary times; another user with write permission may set both times to the current time
 * (utimensat() with NULL). A file whose mtime is in the future needs that too, because the later time counts.
 */
void recency_touch(int at, const char *path, const struct stat *found, int64_t now)
{
	bool written_ahead = nanoseconds_of(found->st_mtim) - RECENCY_PERIOD_NS > now;
	struct timespec times[2];

	make_times(times, now, RECENCY_USED);
	if (written_ahead || (utimensat(at, path, times, AT_SYMLINK_NOFOLLOW) < 0 && errno == EPERM)) {
		(void)utimensat(at, path, NULL, AT_SYMLINK_NOFOLLOW);
	}
}

void recency_mark_file(int file, int64_t now, enum recency_mark mark)
{
	struct timespec times[2];

	make_times(times, now, mark);
	(void)futimens(file, times);
}

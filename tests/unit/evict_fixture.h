/* SPDX-License-Identifier: MIT */
/*
 * evict_fixture: numbered entries of one size in a store with a cap, a clock that tests move, and an exact LRU
 *
 * Use: as store_fixture, then fixture_capped(). The clock begins at a fixed time, later than the files' own mtimes, and
 * must only go forward: what is drawn depends on it, and is the same in every run.
 */
#ifndef TESTS_EVICT_FIXTURE_H
#define TESTS_EVICT_FIXTURE_H

#include "cache/counters.h"
#include "cache/tools/prune.h"
#include "store_fixture.h"

#include "cache/upkeep/evict.h"

#include <math.h>

#define SECOND      INT64_C(1000000000)
#define HOUR        (3600 * SECOND)
#define FILE_BYTES  UINT64_C(4096) /* one block of most file systems */
#define ENTRY_BYTES (FILE_BYTES - 192 - 16 - 16)
#define CLOCK_START (INT64_C(2114380800) * SECOND) /* 2037 */

static int64_t clock_now;

static inline int64_t fixture_clock(void)
{
	return clock_now;
}

/* Returns how many entries were evicted since the last call. */
static inline uint64_t take_evictions(void)
{
	static uint64_t before;
	const uint64_t taken = counters_here(COUNTER_TOTAL_evictions) - before;

	before += taken;
	return taken;
}

static inline struct store *fixture_capped(uint64_t max_size)
{
	clock_now = clock_now > CLOCK_START ? clock_now : CLOCK_START;
	return fixture_store((struct store){.max_size = max_size, .clock = fixture_clock});
}

/* Spreads numbers over the shards like digests. The key is there until the next call. */
static inline const uint8_t *numbered_key(unsigned number)
{
	static uint8_t key[ENTRY_KEY_BYTES];
	uint64_t mixed = (number + 1) * UINT64_C(0x9e3779b97f4a7c15);

	mixed = (mixed ^ mixed >> 31) * UINT64_C(0xbf58476d1ce4e5b9);
	mixed ^= mixed >> 29;
	memcpy(key, &mixed, sizeof(mixed));
	memcpy(key + 8, &number, sizeof(number));
	return key;
}

static inline const char *numbered_path(unsigned number)
{
	const uint8_t *key = numbered_key(number);
	char name[80];
	int at = 0;

	for (size_t i = 0; i < ENTRY_KEY_BYTES; i++) {
		at += snprintf(name + at, sizeof(name) - (size_t)at, i == 0 ? "%02x/" : "%02x", key[i]);
	}
	return in_home(name);
}

static inline int numbered_put_sized(struct store *store, unsigned number, size_t bytes)
{
	return fixture_put_entry(store, fixture_entry(numbered_key(number), 1, bytes));
}

/* Puts a file of FILE_BYTES. */
static inline int numbered_put(struct store *store, unsigned number)
{
	return numbered_put_sized(store, number, ENTRY_BYTES);
}

/* Puts an entry that no later process is likely to ask for. */
static inline void short_lived_put(struct store *store, unsigned number)
{
	struct entry *entry = fixture_entry(numbered_key(number), (int)number + 1, ENTRY_BYTES);

	entry_set_short_lived(entry);
	cr_assert_eq(fixture_put_entry(store, entry), 0);
}

static inline bool numbered_get(struct store *store, unsigned number)
{
	struct entry *entry;

	if (store_get(store, numbered_key(number), NULL, NULL, &entry) != 0) {
		return false;
	}
	entry_unref(entry);
	return true;
}

static inline bool numbered_exists(unsigned number)
{
	return fixture_exists(numbered_path(number));
}

static inline struct store_usage usage_of(struct store *store)
{
	struct store_usage usage = {0};

	cr_assert_eq(store_usage(store, &usage), 0);
	return usage;
}

/* As stores have noted it. */
static inline struct store_usage noted_of(struct store *store)
{
	struct store_usage usage = {.bytes = 1};

	cr_assert_eq(store_usage_about(store, &usage), 0);
	return usage;
}

static inline struct store_pruned pruned_of(struct store *store)
{
	struct store_pruned pruned;

	cr_assert_eq(prune_files(store, INT64_MAX, &pruned), 0);
	return pruned;
}

/* Sets both times of a file to so many seconds before now. */
static inline void age_file(const char *path, int64_t seconds)
{
	struct timespec times[2] = {{.tv_sec = (clock_now / SECOND) - seconds}, {0}};

	times[1] = times[0];
	cr_assert_eq(utimensat(AT_FDCWD, path, times, AT_SYMLINK_NOFOLLOW), 0);
}

/* Writes a file with these first bytes, so many seconds old. */
static inline void write_aged(const char *name, const void *bytes, size_t size, int64_t seconds)
{
	char path[500];

	(void)snprintf(path, sizeof(path), "%s", in_home(name));
	*strrchr(path, '/') = '\0';
	(void)mkdir(path, 0700);
	fixture_write(in_home(name), bytes, size);
	age_file(in_home(name), seconds);
}

/* splitmix64: the same numbers everywhere. */
static inline uint64_t next_random(uint64_t *state)
{
	uint64_t number = *state += UINT64_C(0x9e3779b97f4a7c15);

	number = (number ^ number >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	number = (number ^ number >> 27) * UINT64_C(0x94d049bb133111eb);
	return number ^ number >> 31;
}

#define ZIPF_MAX 20000

struct zipf {
	unsigned count;
	uint64_t state;
	double sums[ZIPF_MAX];
};

static inline void zipf_begin(struct zipf *zipf, unsigned count, double exponent, uint64_t seed)
{
	double sum = 0;

	cr_assert_leq(count, ZIPF_MAX);
	zipf->count = count;
	zipf->state = seed;
	for (unsigned i = 0; i < count; i++) {
		sum += pow(i + 1, -exponent);
		zipf->sums[i] = sum;
	}
}

static inline unsigned zipf_next(struct zipf *zipf)
{
	double wanted = (double)(next_random(&zipf->state) >> 11) * 0x1p-53 * zipf->sums[zipf->count - 1];
	unsigned low = 0;
	unsigned high = zipf->count - 1;

	while (low < high) {
		unsigned middle = (low + high) / 2;

		if (zipf->sums[middle] < wanted) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return low;
}

/* An exact LRU of files of one size. */
struct lru {
	unsigned cap;
	unsigned there;
	unsigned count;
	unsigned hits;
	uint64_t time;
	uint64_t used[ZIPF_MAX]; /* 0: not there */
};

static inline void lru_access(struct lru *lru, unsigned number)
{
	lru->hits += lru->used[number] != 0;
	lru->there += lru->used[number] == 0;
	lru->used[number] = ++lru->time;
	if (lru->there > lru->cap) {
		unsigned oldest = number;

		for (unsigned i = 0; i < lru->count; i++) {
			oldest = lru->used[i] && lru->used[i] < lru->used[oldest] ? i : oldest;
		}
		lru->used[oldest] = 0;
		lru->there--;
	}
}

static inline void put_apart(struct store *store, unsigned from, unsigned to, int64_t step)
{
	for (unsigned i = from; i < to; i++) {
		clock_now += step;
		cr_assert_eq(numbered_put(store, i), 0, "entry %u", i);
	}
}

/* Puts numbers one second apart. */
static inline void put_range(struct store *store, unsigned from, unsigned to)
{
	put_apart(store, from, to, SECOND);
}

#endif

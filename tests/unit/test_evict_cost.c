/* SPDX-License-Identifier: MIT */
/* evict: its cost in system calls */
#include "evict_fixture.h"
#include "syscalls.h"

TestSuite(evict_cost, .init = fixture_open, .fini = fixture_close, .timeout = 120);

#define STEPS 256

static struct syscalls counts[STEPS];

static void count_or_skip(void (*body)(void *context, unsigned step), void *context, unsigned steps)
{
	skip_unless(syscalls_count(body, context, steps, counts), "processes may not be traced here");
}

static void get_step(void *context, unsigned step)
{
	clock_now += step == 11 ? HOUR : 10 * SECOND;
	(void)numbered_get(context, 1);
}

Store_test(evict_cost, a_hit_makes_extra_system_calls_once_an_hour)
{
	struct store *store = fixture_capped(FIXTURE_MAX_SIZE);

	cr_assert_eq(numbered_put(store, 1), 0);
	count_or_skip(get_step, store, 20);
	for (unsigned i = 0; i < 20; i++) {
		bool pays = i == 0 || i == 11;

		cr_assert_eq(counts[i].timed, pays, "hit %u", i);
		cr_assert_eq(counts[i].all - counts[i].users, counts[1].all - counts[1].users + pays, "hit %u", i);
	}
	cr_log_info("a hit: %u system calls, and one more each hour", counts[1].all);
	cr_assert_leq(counts[1].all - counts[1].users, 13, "root, v1, shard, file: open, stat, close; read");
	cr_assert_leq(counts[1].users, 4, "whose they are, where they are not root's: hosts change their user");
}

static void put_step(void *context, unsigned step)
{
	clock_now += SECOND;
	(void)numbered_put(context, 100000 + step);
}

/* With any cap a store may do no more in addition to storing: two scans, and a stat of a few files. */
Store_test(evict_cost, a_store_past_the_cap_scans_at_most_two_shards)
{
	unsigned files = 5120;
	struct store *store = fixture_capped(files * FILE_BYTES);
	unsigned sum = 0;
	unsigned most = 0;

	put_range(store, 0, files);
	clock_now += 3 * HOUR;
	count_or_skip(put_step, store, STEPS);
	for (unsigned i = 0; i < STEPS; i++) {
		cr_assert_leq(counts[i].lists, 4, "store %u: two for each shard", i);
		cr_assert_leq(counts[i].all, 40 + 2 * (2 * files / 256 + 4) + 2 * EVICT_CHECKS, "store %u", i);
		cr_assert_leq(counts[i].removed, 3, "store %u", i);
		most = counts[i].all > most ? counts[i].all : most;
		sum += counts[i].all;
	}
	cr_log_info("a store that must evict, of %u files: %.1f system calls, at most %u", files, (double)sum / STEPS,
	            most);
	cr_assert_leq(sum / STEPS, 80);
	cr_assert_eq(usage_of(store).entries, files);
}

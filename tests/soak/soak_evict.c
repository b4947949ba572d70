/* SPDX-License-Identifier: MIT */
/* evict, at length: large caches, files of all sizes, many processes, many kills; `make soak` */
#include "../unit/evict_fixture.h"
#include "../unit/syscalls.h"
#include "cache/tools/prune.h"

TestSuite(soak_evict, .init = fixture_open, .fini = fixture_close, .timeout = 1200);

/* From 300 bytes to 20 KB, the same for one number always; a few are ten times that. */
static uint64_t varied_size(unsigned number)
{
	uint64_t state = number;
	uint64_t random = next_random(&state);
	uint64_t size = 320 + (random % 140) * ((random >> 32) % 140);

	return (number % 50 == 7 ? size * 10 : size) / 16 * 16;
}

static void compare(unsigned keys, double exponent, uint64_t cap, unsigned accesses, int64_t step, uint64_t seed)
{
	static struct zipf zipf;
	static struct lru lru;
	struct store *store = step ? fixture_capped(cap) : fixture_store((struct store_options){.max_size = cap});
	unsigned hits = 0;
	uint64_t sum = 0;
	double ours;
	double exact;

	zipf_begin(&zipf, keys, exponent, seed);
	lru = (struct lru){.cap = cap, .count = keys};
	for (unsigned i = 0; i < accesses; i++) {
		/* which number is popular moves slowly */
		unsigned number = (zipf_next(&zipf) + i / 100) % keys;

		clock_now += step;
		lru_access(&lru, number, varied_size);
		if (numbered_get(store, number)) {
			hits++;
		} else {
			cr_assert_eq(numbered_put_sized(store, number, varied_size(number) - 224), 0);
			if (sum++ % 64 == 0) {
				cr_assert_leq(usage_of(store).bytes, cap * 105 / 100, "access %u", i);
			}
		}
	}
	cr_assert_leq(usage_of(store).bytes, cap);
	cr_assert_geq(usage_of(store).bytes, cap * 95 / 100);
	ours = 100.0 * hits / accesses;
	exact = 100.0 * lru.hits / accesses;
	cr_log_info("%llu files in %llu KB, %u keys, exponent %.1f, %lld s apart: hit rate %.2f %%, exact LRU %.2f %%",
	            (unsigned long long)usage_of(store).entries, (unsigned long long)(cap / 1024), keys, exponent,
	            (long long)(step / SECOND), ours, exact);
	cr_assert_gt(ours, exact - 3);
	(void)store_clear(store, &(struct store_usage){0});
	store_close(store);
}

Store_test(soak_evict, hit_rates_are_those_of_an_exact_lru_for_files_of_all_sizes)
{
	for (unsigned i = 0; i < 2; i++) {
		compare(1500, 0.7 + 0.3 * i, 2 << 20, 12000, 60 * SECOND, i);
		compare(1500, 0.7 + 0.3 * i, 2 << 20, 12000, 0, i);
		compare(10000, 0.7 + 0.3 * i, 12 << 20, 15000, 10 * SECOND, i);
	}
}

/* Files as a store would leave them, without the time that storing takes. */
static void plant(unsigned from, unsigned to, int64_t now)
{
	static const char zeros[64];
	char path[400];

	for (unsigned i = from; i < to; i++) {
		struct timespec times[2] = {{.tv_sec = now / SECOND - (to - i)}, {0}};

		times[1] = times[0];
		numbered_path(i, path);
		fixture_write(path, zeros, sizeof(zeros));
		cr_assert_eq(utimensat(AT_FDCWD, path, times, 0), 0);
	}
}

static void put_step(void *context, unsigned step)
{
	clock_now += SECOND;
	(void)numbered_put_sized(context, 10000000 + step, 100);
}

#define STEPS 2000

static struct syscalls counts[STEPS];

static void expect_bounded(unsigned files, bool lost_index)
{
	struct store *store = fixture_capped(0);
	struct store *full;
	struct store_pruned pruned;
	char path[400];
	unsigned sum = 0;
	unsigned most = 0;

	store_close(store);
	store = fixture_capped(UINT64_C(1) << 40);
	for (unsigned i = 0; i < 256; i++) {
		(void)snprintf(path, sizeof(path), "%s/v1/%02x", fixture.root, i);
		(void)mkdir(fixture.root, 0700);
		*strrchr(path, '/') = '\0';
		(void)mkdir(path, 0700);
		path[strlen(path)] = '/';
		(void)mkdir(path, 0700);
	}
	plant(0, files, clock_now);
	cr_assert_eq(store_prune(store, &pruned), 0);
	cr_assert_eq(pruned.left.entries, files);
	if (lost_index) {
		(void)snprintf(path, sizeof(path), "%s/v1/usage-index", fixture.root);
		cr_assert_eq(unlink(path), 0);
	}
	full = fixture_capped(pruned.left.bytes);
	clock_now += 2 * HOUR;
	if (!syscalls_count(put_step, full, STEPS, counts)) {
		skip_test("processes may not be traced here");
	}
	for (unsigned i = 0; i < STEPS; i++) {
		cr_assert_leq(counts[i].lists, 6 + 2 * (files / 256 / 300 + 1), "store %u", i);
		most = counts[i].all > most ? counts[i].all : most;
		sum += counts[i].all;
	}
	cr_log_info("a store that must evict, of %u files%s: %.1f system calls, at most %u", files,
	            lost_index ? " whose usage index was lost" : "", (double)sum / STEPS, most);
	cr_assert_leq(most, 60 + 2 * EVICT_CHECKS + 2 * (files / 256 * 5 / 4));
	if (!lost_index) {
		cr_assert_leq(usage_of(full).bytes, pruned.left.bytes);
	}
	store_close(full);
	store_close(store);
}

Store_test(soak_evict, the_cost_of_a_store_is_bounded_with_100000_files)
{
	expect_bounded(100000, false);
}

Store_test(soak_evict, the_cost_of_a_store_is_bounded_with_100000_files_and_no_usage_index)
{
	expect_bounded(100000, true);
}

Store_test(soak_evict, many_processes_keep_the_cap_while_some_are_killed)
{
	uint64_t cap = 200 * FILE_BYTES;
	struct store *store = fixture_store((struct store_options){.max_size = cap});
	uint64_t random = 11;
	pid_t children[6];

	for (unsigned i = 0; i < 250; i++) {
		cr_assert_eq(numbered_put(store, 90000000 + i), 0);
	}
	for (unsigned round = 0; round < 60; round++) {
		for (unsigned i = 0; i < 6; i++) {
			children[i] = fork();
			if (children[i] == 0) {
				for (unsigned j = 0;; j++) {
					(void)numbered_put(store, (round * 6 + i) * 100000 + j);
				}
			}
		}
		usleep(20000 + next_random(&random) % 80000);
		for (unsigned i = 0; i < 6; i++) {
			kill(children[i], SIGKILL);
		}
		for (unsigned i = 0; i < 6; i++) {
			cr_assert_eq(waitpid(children[i], NULL, 0), children[i]);
		}
		/* each may leave one file that nobody has counted, until the next scan of its shard */
		cr_assert_leq(usage_of(store).bytes, cap * 120 / 100, "round %u: %llu bytes", round,
		              (unsigned long long)usage_of(store).bytes);
		cr_assert_geq(usage_of(store).bytes, cap * 85 / 100, "round %u: %llu bytes", round,
		              (unsigned long long)usage_of(store).bytes);
	}
	(void)store_clear(store, &(struct store_usage){0});
	store_close(store);
}

/* SPDX-License-Identifier: MIT */
/* Random trees, traces and edits: dependencies_hold() must agree with a naive model, which stats and reads everything.
 * DEPENDENCIES_SEED and DEPENDENCIES_ROUNDS repeat or lengthen a run. */
#include "tests/unit/dependencies_model.h"

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
	/* Files are settled in one round and racy in the next; the answer must be the same. */
	if (round % 2 == 0) {
		usleep(25000);
	}
}

TestSuite(dependencies_random, .init = tree_begin, .fini = tree_end);

Test(dependencies_random, agrees_with_the_naive_model, .timeout = 300)
{
	const char *seed = getenv("DEPENDENCIES_SEED");
	const char *rounds = getenv("DEPENDENCIES_ROUNDS");
	unsigned last = rounds ? (unsigned)atoi(rounds) : 120;
	unsigned held = 0;
	unsigned checks = 0;

	random_state = seed ? strtoull(seed, NULL, 0) : (uint64_t)now_ns();
	cr_log_info("DEPENDENCIES_SEED=%#llx", (unsigned long long)random_state);
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
			             "DEPENDENCIES_SEED=%#llx round %u edit %d: says %d (%s), model says %d",
			             (unsigned long long)first, round, edits, got, why, expected);
			edit();
		}
	}
	tree_roots.count = 1;
	cr_log_info("%u checks, %u held", checks, held);
	cr_assert(last < 100 || (held > checks / 20 && held < checks - checks / 20),
	          "the edits do not try both answers: %u of %u held", held, checks);
}

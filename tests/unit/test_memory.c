/* SPDX-License-Identifier: MIT */
#include "tests/unit/memory_fixture.h"

TestSuite(memory, .init = set_up);

/* Returns true if the dependencies are the context's text. */
static bool is_text(void *context, const void *dependencies, size_t size)
{
	return size == strlen(context) && memcmp(dependencies, context, size) == 0;
}

static bool never(void *context, const void *dependencies, size_t size)
{
	if (context != NULL) {
		++*(int *)context;
	}
	return false;
}

Test(memory, both_halves_of_the_fingerprint_are_compared)
{
	put(1, 2, 42, NULL, 100);
	cr_expect_eq(get_if(1, 3, NULL, NULL), 0);
	cr_expect_eq(get_if(2, 2, NULL, NULL), 0);
	cr_expect_eq(get_if(1 + (UINT64_C(1) << 60), 2, NULL, NULL), 0);
	cr_expect_eq(get_if(2, 1, NULL, NULL), 0);
}

Test(memory, an_entry_larger_than_a_quarter_of_the_cap_is_not_stored)
{
	struct entry *entry = make(1, NULL, 1000);
	uint64_t size = entry_info(entry)->total_size;

	open_memory(4 * size);
	memory_put(memory, 1, 0, entry);
	cr_expect_eq(get(1), 1, "a quarter is kept");
	open_memory(4 * size - 1);
	memory_put(memory, 2, 0, entry);
	cr_expect_eq(get(2), 0, "more than a quarter is not");
	entry_unref(entry);
}

Test(memory, the_least_recently_used_is_evicted_first)
{
	enum { KEPT = 40, MORE = 10 };
	struct entry *entry = make(1, NULL, 100000);
	uint64_t size = entry_info(entry)->total_size;

	entry_unref(entry);
	open_memory(KEPT * (size + OVERHEAD_MAX));
	for (uint32_t i = 1; i <= KEPT; i++) {
		put(i, 0, i, NULL, 100000);
	}
	cr_assert_eq(get(7), 7);
	cr_assert_eq(get(3), 3);
	for (uint32_t i = KEPT + 1; i <= KEPT + MORE; i++) {
		put(i, 0, i, NULL, 100000);
	}
	for (uint32_t i = 1; i <= KEPT + MORE; i++) {
		bool goes = i <= MORE + 2 && i != 7 && i != 3;

		cr_expect_eq(get(i), goes ? 0 : i, "%u", i);
	}
}

Test(memory, a_hit_on_an_older_result_protects_it_from_eviction)
{
	struct entry *entry = make(1, "old", 100000);
	uint64_t size = entry_info(entry)->total_size;

	entry_unref(entry);
	open_memory(5 * (size + OVERHEAD_MAX));
	put(1, 0, 1, "old", 100000);
	put(1, 0, 2, "new", 100000);
	for (uint32_t i = 3; i <= 5; i++) {
		put(i, 0, i, NULL, 100000);
	}
	cr_assert_eq(get_if(1, 0, is_text, "old"), 1);
	put(6, 0, 6, NULL, 100000);
	put(7, 0, 7, NULL, 100000);
	cr_expect_eq(get_if(1, 0, is_text, "old"), 1);
}

Test(memory, the_cap_is_respected_at_all_times)
{
	enum { CAP = 200000 };
	uint64_t random = 1;

	open_memory(CAP);
	for (uint32_t i = 1; i <= 3000; i++) {
		uint64_t kept = 0;

		random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
		put(i, 0, i, NULL, (random >> 33) % 45000);
		if (i % 50 != 0) {
			continue;
		}
		/* newest first, so that look-ups change the order of use little */
		for (uint32_t j = 1; j <= i; j++) {
			struct entry *entry = memory_get(memory, j, 0, NULL, NULL);

			kept += entry != NULL ? entry_info(entry)->total_size : 0;
			entry_unref(entry);
		}
		cr_assert_leq(kept, CAP);
		cr_assert_gt(kept, CAP / 3, "eviction goes too far");
	}
}

Test(memory, an_evicted_entry_lives_until_its_last_reference_is_dropped)
{
	struct entry *held;

	open_memory(40000);
	put(1, 0, 77, NULL, 5000);
	held = memory_get(memory, 1, 0, NULL, NULL);
	for (uint32_t i = 2; i < 40; i++) {
		put(i, 0, i, NULL, 5000);
	}
	cr_assert_eq(get(1), 0);
	cr_expect_eq(mark_of(held), 77);
	entry_unref(held);
}

/* Returns true for every text, and records which were checked. */
static bool note(void *context, const void *dependencies, size_t size)
{
	strncat(context, dependencies, size);
	return false;
}

Test(memory, dependencies_are_checked_newest_first_even_after_hits)
{
	char asked[16] = "";

	put(1, 0, 1, "a", 10);
	put(1, 0, 2, "b", 10);
	put(1, 0, 3, "c", 10);
	cr_assert_eq(get_if(1, 0, is_text, "a"), 1);
	cr_expect_eq(get_if(1, 0, note, asked), 0);
	cr_expect_str_eq(asked, "cba");
}

Test(memory, a_result_without_dependencies_always_holds)
{
	int asked = 0;

	put(1, 0, 1, NULL, 10);
	cr_expect_eq(get_if(1, 0, never, &asked), 1);
	cr_expect_eq(asked, 0);
	put(1, 0, 2, "a", 10);
	cr_expect_eq(get_if(1, 0, never, &asked), 1, "it stands behind one whose dependencies do not hold");
	cr_expect_eq(asked, 1);
}

Test(memory, a_result_with_the_same_dependencies_is_replaced)
{
	int asked = 0;

	put(1, 0, 1, "a", 10);
	put(1, 0, 2, "b", 10);
	put(1, 0, 3, "a", 10);
	put(1, 0, 4, "a", 10);
	cr_expect_eq(get_if(1, 0, never, &asked), 0);
	cr_expect_eq(asked, 2);
	cr_expect_eq(get_if(1, 0, is_text, "a"), 4);
	cr_expect_eq(get_if(1, 0, is_text, "b"), 2);
}

Test(memory, a_fingerprint_has_at_most_its_sixteen_newest_results)
{
	char text[8];
	int asked = 0;

	for (uint32_t i = 1; i <= STORE_RESULTS_MAX + 4; i++) {
		snprintf(text, sizeof(text), "%u", i);
		put(1, 0, i, text, 10);
	}
	cr_expect_eq(get_if(1, 0, never, &asked), 0);
	cr_expect_eq(asked, STORE_RESULTS_MAX);
	cr_expect_eq(get_if(1, 0, is_text, "4"), 0);
	cr_expect_eq(get_if(1, 0, is_text, "5"), 5);
	cr_expect_eq(get_if(1, 0, is_text, "20"), 20);
}

/* A check that uses the memory front itself, which would hang if a lock were held. */
static bool look_inside(void *context, const void *dependencies, size_t size)
{
	put(1, 0, 9, "other", 10);
	return get(1) == 9 && context != NULL;
}

Test(memory, no_lock_is_held_while_dependencies_are_checked, .timeout = 30)
{
	int context = 0;

	put(1, 0, 1, "a", 10);
	cr_expect_eq(get_if(1, 0, look_inside, &context), 1);
}

/* Evicts every entry during the check. */
static bool push_out(void *context, const void *dependencies, size_t size)
{
	for (uint32_t i = 100; i < 140; i++) {
		put(i, 0, i, NULL, 5000);
	}
	*(bool *)context = get_if(1, 0, NULL, NULL) == 0;
	return *(const char *)dependencies == 'a';
}

Test(memory, an_entry_evicted_during_the_check_is_still_returned)
{
	bool gone = false;

	open_memory(40000);
	put(1, 0, 1, "a", 5000);
	put(1, 0, 2, "b", 5000);
	cr_expect_eq(get_if(1, 0, push_out, &gone), 1);
	cr_expect(gone);
}

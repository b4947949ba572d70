/* SPDX-License-Identifier: MIT */
/* prune: exact removal, changes of files between the look and the removal, and files of others */
#include "cache/recency.h"
#include "evict_fixture.h"

TestSuite(prune, .init = fixture_open, .fini = fixture_close);

#define PUT  10
#define LEFT 5

/* Called after the look and before the first removal. */
static void (*before_removal)(void);

static bool progress(const char *doing, uint64_t done, uint64_t whole)
{
	(void)whole;
	if (strcmp(doing, "looking") != 0 && before_removal) {
		before_removal();
		before_removal = NULL;
	}
	return false;
}

/* Prunes a store of ten entries, each a second younger than the one before; half of them have to be removed. */
static struct store_pruned pruned(int64_t unused_ns)
{
	struct store *store = fixture_capped(1 << 20), *small;
	struct store_pruned result;

	clock_now -= clock_now % SECOND;
	put_apart(store, 0, PUT, 0);
	clock_now += 24 * HOUR;
	for (unsigned i = 0; i < PUT; i++) {
		age_file(numbered_path(i), 1000 - i);
	}
	small =
	    fixture_store((struct store){.max_size = LEFT * FILE_BYTES, .clock = fixture_clock, .progress = progress});
	cr_assert_eq(prune_files(small, unused_ns, &result), 0);
	return result;
}

/* Expects these entries, and that stores have noted them. */
static void expect_left(const char *wanted)
{
	struct store *store = fixture_capped(1 << 20);

	for (unsigned i = 0; i < PUT; i++) {
		cr_expect_eq(numbered_exists(i), wanted[i] == '+', "entry %u", i);
	}
	cr_expect_eq(noted_of(store).entries, usage_of(store).entries);
	cr_expect_eq(noted_of(store).bytes, usage_of(store).bytes);
}

Store_test(prune, the_oldest_are_removed_and_the_sums_are_right)
{
	struct store_pruned result = pruned(INT64_MAX);

	expect_left("-----+++++");
	cr_expect_eq(result.removed.entries, PUT - LEFT);
	cr_expect_eq(result.removed.bytes, (PUT - LEFT) * FILE_BYTES);
	cr_expect_eq(result.left.entries, LEFT);
	cr_expect_eq(result.left.bytes, LEFT * FILE_BYTES);
}

Store_test(prune, a_dry_run_is_no_use)
{
	struct store *store = fixture_capped(1 << 20);
	struct store_pruned result;
	struct stat before, after;

	cr_assert_eq(numbered_put(store, 0), 0);
	age_file(numbered_path(0), 10 * 24 * 3600);
	cr_assert_eq(stat(numbered_path(0), &before), 0);
	cr_assert_eq(store_remove(store, &(struct store_removal){.dry = true, .unused_ns = HOUR}, &result), 0);
	cr_expect_eq(result.removed.entries, 1);
	cr_assert_eq(stat(numbered_path(0), &after), 0);
	cr_expect(after.st_atim.tv_sec == before.st_atim.tv_sec && after.st_atim.tv_nsec == before.st_atim.tv_nsec);
}

Store_test(prune, a_missing_directory_is_not_created)
{
	(void)pruned_of(fixture.store);
	cr_expect_not(fixture_exists(fixture.root));
}

Store_test(prune, an_entry_used_exactly_at_the_limit_is_not_removed)
{
	(void)pruned((1000 - 7) * SECOND);
	expect_left("-------+++");
}

/* More than an eighth of the cap, though nothing was used later. */
Store_test(prune, too_large_entries_are_removed_first)
{
	struct store *store = fixture_capped(1 << 20);
	struct store *small = fixture_capped(24 * FILE_BYTES);

	put_apart(store, 0, 24, 0);
	clock_now += HOUR;
	cr_assert_eq(numbered_put_sized(store, 24, 4 * FILE_BYTES), 0);
	cr_expect_eq(pruned_of(small).removed.entries, 1);
	cr_expect_not(numbered_exists(24));
}

static void use_first(void)
{
	age_file(numbered_path(0), 1);
}

Store_test(prune, an_entry_used_after_the_look_is_not_removed)
{
	before_removal = use_first;
	(void)pruned(INT64_MAX);
	expect_left("+-----++++");
}

static void remove_some(void)
{
	for (unsigned i = 0; i < 3; i++) {
		cr_assert_eq(unlink(numbered_path(i)), 0);
	}
}

Store_test(prune, files_removed_by_another_process_count_as_freed)
{
	before_removal = remove_some;
	cr_expect_eq(pruned(INT64_MAX).removed.entries, PUT - LEFT - 3);
	expect_left("-----+++++");
}

Store_test(prune, by_age_uses_true_ages_and_by_size_begins_with_short_lived_entries)
{
	struct store *store = fixture_capped(1 << 20), *small;
	struct store_pruned result;

	cr_assert_eq(numbered_put(store, 0), 0);
	short_lived_put(store, 1);
	cr_assert_eq(prune_files(store, HOUR, &result), 0);
	cr_assert(numbered_exists(0) && numbered_exists(1));
	small = fixture_store((struct store){.max_size = 3 * FILE_BYTES / 2, .clock = fixture_clock});
	(void)pruned_of(small);
	cr_assert(numbered_exists(0) && !numbered_exists(1));
}

#define DIGITS62 "0123456789012345678901234567890123456789012345678901234567890a"

Store_test(prune, foreign_files_are_never_removed)
{
	static const char *const others[] = {
	    "77/thesis.tex", "77/.nfs000000000000000100000001", "77/tmp.notes", "../v2", "stray", "account.txt",
	    "77/" DIGITS62,  "77/tmp.1.0123456789abcdef"};
	struct store *store = fixture_capped(400 * FILE_BYTES), *small;
	struct store_pruned cleared;

	put_range(store, 0, 10);
	for (size_t i = 0; i < COUNT(others); i++) {
		write_aged(others[i], "My thesis, chapter one.", 23, 7200);
	}
	(void)pruned_of(store);
	put_range(store, 10, 800);
	small = fixture_capped(1);
	(void)pruned_of(small);
	cr_assert_eq(clear_files(store, &cleared), 0);
	for (size_t i = 0; i < COUNT(others); i++) {
		cr_assert(fixture_exists(in_home(others[i])), "%s", others[i]);
	}
	cr_assert_eq(unlink(in_home(others[3])) | unlink(in_home(others[7])), 0);
}

static const char *request_path(unsigned number)
{
	static char path[500];

	(void)snprintf(path, sizeof(path), "%s" DIRECTORY_REQUEST, numbered_path(number));
	return path;
}

/* Puts ten entries with requests. */
static struct store *put_with_requests(void)
{
	struct store *store = fixture_capped(1 << 20);

	put_range(store, 0, PUT);
	for (unsigned i = 0; i < PUT; i++) {
		fixture_write(request_path(i), entry_magic, sizeof(entry_magic));
	}
	return store;
}

Store_test(prune, a_request_goes_with_its_entry_and_is_subtracted)
{
	struct store_usage before = usage_of(put_with_requests());
	struct store *small = fixture_capped(before.bytes / PUT * LEFT);

	cr_assert_eq(pruned_of(small).removed.entries, PUT - LEFT);
	for (unsigned i = 0; i < PUT; i++) {
		cr_expect_eq(fixture_exists(request_path(i)), i >= PUT - LEFT, "request %u", i);
	}
	cr_expect_eq(noted_of(small).bytes, usage_of(small).bytes);
}

Store_test(prune, a_request_without_an_entry_goes_before_entries)
{
	struct store *store = put_with_requests();
	struct store_usage before = usage_of(store);

	cr_assert_eq(unlink(numbered_path(0)), 0);
	age_file(request_path(0), 0);
	cr_assert_eq(pruned_of(store).removed.entries, 0, "it is below its limit, and now knows the bytes of requests");
	cr_assert_eq(fixture_exists(request_path(0)), true);
	cr_assert_eq(pruned_of(fixture_capped(before.bytes / PUT * (PUT - 1))).removed.entries, 0);
	cr_expect_not(fixture_exists(request_path(0)));
}

Store_test(prune, clear_removes_requests_whose_entries_are_gone)
{
	struct store *store = put_with_requests();
	struct store_pruned cleared;

	cr_assert_eq(unlink(numbered_path(0)), 0);
	cr_assert_eq(clear_files(store, &cleared), 0);
	for (unsigned i = 0; i < PUT; i++) {
		cr_expect_not(fixture_exists(request_path(i)), "request %u", i);
	}
}

Store_test(prune, clear_removes_entries_and_empty_files_but_no_live_temporaries)
{
	struct store *store = fixture_capped(1 << 20);
	struct store_pruned cleared;

	put_range(store, 0, 10);
	write_aged("77/" DIGITS62, "", 0, 0);
	write_aged("77/tmp.1.1", entry_magic, sizeof(entry_magic), 10);
	write_aged("77/tmp.1.2", entry_magic, sizeof(entry_magic), 3700);
	cr_assert_eq(clear_files(store, &cleared), 0);
	cr_expect_eq(cleared.removed.entries, 11);
	cr_expect_eq(usage_of(store).entries, 0);
	cr_expect_eq(noted_of(store).bytes, usage_of(store).bytes);
	cr_assert_eq(unlink(in_home("77/tmp.1.1")), 0);
}

static const char *facts_path(unsigned number)
{
	static char path[500];

	(void)snprintf(path, sizeof(path), "%s.facts", numbered_path(number));
	return path;
}

/* Facts have the times that the kernel gives to new files. */
static struct store *capped_today(uint64_t max_size)
{
	struct store *store = fixture_capped(max_size);

	clock_now = recency_now();
	return store;
}

static void put_facts(struct store *store, unsigned number, size_t size, int64_t age)
{
	static uint8_t bytes[1 << 16];

	memcpy(bytes, entry_magic, sizeof(entry_magic));
	cr_assert_eq(store_put_beside(store, numbered_key(number), DIRECTORY_FACTS, bytes, size), 0);
	if (fixture_exists(facts_path(number))) {
		age_file(facts_path(number), age);
	}
}

Store_test(prune, facts_go_from_a_full_cache_before_any_entry)
{
	struct store *store = capped_today(1 << 20);

	put_range(store, 0, PUT);
	put_facts(store, PUT, 4 * FILE_BYTES, 0);
	(void)pruned_of(store);
	cr_expect(fixture_exists(facts_path(PUT)), "there is room");
	(void)pruned_of(capped_today((PUT + 2) * FILE_BYTES));
	cr_expect_not(fixture_exists(facts_path(PUT)));
	cr_expect_eq(usage_of(store).entries, PUT);
}

Store_test(prune, facts_not_read_for_a_month_go_whatever_room_there_is)
{
	struct store *store = capped_today(1 << 20);
	struct store_pruned result;

	put_facts(store, 0, FILE_BYTES, 29 * 24 * 3600);
	put_facts(store, 1, FILE_BYTES, 31 * 24 * 3600);
	put_facts(store, 2, FILE_BYTES, -31 * 24 * 3600);
	cr_assert_eq(prune_files(store, INT64_MAX, &result), 0);
	cr_expect(fixture_exists(facts_path(0)) && !fixture_exists(facts_path(1)));
	cr_expect_not(fixture_exists(facts_path(2)), "a month ahead counts as a month ago");
}

Store_test(prune, facts_of_many_do_not_exceed_the_cap_and_the_last_stay)
{
	const uint64_t cap = 1 << 20;
	struct store *store = capped_today(cap);

	for (unsigned i = 0; i < 40; i++) {
		put_facts(store, i, 1 << 16, 0);
	}
	cr_expect_leq(usage_of(store).bytes, cap + cap / 10);
	cr_expect(fixture_exists(facts_path(39)));
}

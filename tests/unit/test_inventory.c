/* SPDX-License-Identifier: MIT */
/* inventory: lists the entries in order of use, reads them as the store does, and changes nothing */
#include "cache/tools/inventory.h"

#include "store_fixture.h"

#define KEYS 4

TestSuite(inventory, .init = fixture_open, .fini = fixture_close);

static struct directory here(void)
{
	return (struct directory){.path = fixture.root};
}

static void put_key(uint8_t first, uint8_t last)
{
	uint8_t key[ENTRY_KEY_BYTES] = {first, [31] = last};

	cr_assert_eq(fixture_put_entry(fixture.store, fixture_entry(key, 1, 100)), 0);
}

static void set_used(uint8_t first, uint8_t last, time_t when)
{
	uint8_t key[ENTRY_KEY_BYTES] = {first, [31] = last};
	struct timespec times[2] = {{.tv_sec = when}, {.tv_sec = when}};
	char name[DIRECTORY_NAME_BYTES], path[400];

	directory_name(key, DIRECTORY_ENTRY, name);
	(void)snprintf(path, sizeof(path), "%s/v1/%02x/%s", fixture.root, first, name);
	cr_assert_eq(utimensat(AT_FDCWD, path, times, 0), 0);
}

static struct inventory taken(void)
{
	struct directory directory = here();
	struct inventory inventory;

	cr_assert_eq(inventory_take(&directory, DIRECTORY_ENTRY, "", NULL, &inventory), 0);
	return inventory;
}

Store_test(inventory, a_missing_directory_is_empty)
{
	struct inventory inventory = taken();

	cr_expect_eq(inventory.count, 0);
	cr_expect_not(fixture_exists(fixture.root));
	inventory_free(&inventory);
}

Store_test(inventory, keys_are_listed_by_last_use_and_then_by_key)
{
	static const uint8_t order[KEYS][2] = {{9, 1}, {2, 7}, {2, 8}, {200, 0}};
	struct inventory inventory;

	for (size_t i = 0; i < KEYS; i++) {
		put_key(order[KEYS - 1 - i][0], order[KEYS - 1 - i][1]);
	}
	set_used(9, 1, 1000);
	set_used(2, 7, 2000);
	set_used(2, 8, 2000);
	set_used(200, 0, 3000);
	inventory = taken();
	cr_assert_eq(inventory.count, KEYS);
	for (size_t i = 0; i < KEYS; i++) {
		cr_expect_eq(inventory.records[i].key[0], order[i][0]);
		cr_expect_eq(inventory.records[i].key[31], order[i][1]);
	}
	inventory_free(&inventory);
}

struct results {
	int dependencies[20];
	size_t count;
	int error;
};

static int note(void *context, const struct entry *entry)
{
	struct results *results = context;
	struct section section;

	cr_assert(entry_section(entry, 1, &section));
	cr_assert_lt(results->count, 20);
	results->dependencies[results->count++] = section.value;
	return results->error;
}

static int read_key(struct results *results)
{
	struct directory directory = here();

	results->count = 0;
	return inventory_read(&directory, fixture_key, note, results);
}

Store_test(inventory, results_of_a_key_are_listed_oldest_first)
{
	struct results results = {.error = 0};

	for (int i = 1; i <= 20; i++) {
		cr_assert_eq(fixture_put(fixture.store, i), 0);
	}
	cr_assert_eq(read_key(&results), 0);
	cr_assert_eq(results.count, STORE_RESULTS_MAX);
	for (int i = 0; i < STORE_RESULTS_MAX; i++) {
		cr_expect_eq(results.dependencies[i], 5 + i);
	}
}

Store_test(inventory, damage_is_reported_and_the_other_results_are_read)
{
	struct results results = {.error = 0};
	uint8_t *bytes;
	size_t size;

	for (int i = 1; i <= 3; i++) {
		cr_assert_eq(fixture_put(fixture.store, i), 0);
	}
	bytes = fixture_read(fixture.path, &size);
	bytes[size / 3 + ENTRY_HEADER_BYTES + 40] ^= 1; /* in the second result */
	fixture_write(fixture.path, bytes, size);
	cr_expect_eq(read_key(&results), -EBADMSG);
	cr_expect_eq(results.count, 2);
	cr_expect_eq(results.dependencies[0], 1);
	cr_expect_eq(results.dependencies[1], 3);
	bytes[size / 3] ^= 1; /* its magic, so the third result cannot be found */
	fixture_write(fixture.path, bytes, size);
	cr_expect_eq(read_key(&results), -EBADMSG);
	cr_expect_eq(results.count, 1);
	cr_expect_eq(results.dependencies[0], 3);
	cr_expect(fixture_exists(fixture.path), "it is left alone");
	free(bytes);
}

Store_test(inventory, missing_and_untrusted_files_are_not_read)
{
	struct results results = {.error = 0};

	cr_expect_eq(read_key(&results), -ENOENT);
	cr_assert_eq(fixture_put(fixture.store, 1), 0);
	cr_assert_eq(chmod(fixture.path, 0666), 0);
	cr_expect_eq(read_key(&results), -EPERM);
	cr_assert_eq(chmod(fixture.path, 0600), 0);
	cr_assert_eq(rename(fixture.path, beside("elsewhere")), 0);
	cr_assert_eq(symlink(beside("elsewhere"), fixture.path), 0);
	cr_expect_eq(read_key(&results), -EPERM);
	cr_expect_eq(results.count, 0);
	cr_assert_eq(chmod(fixture.root, 0777), 0);
	cr_expect_eq(read_key(&results), -EPERM);
	cr_assert_eq(chmod(fixture.root, 0700), 0);
}

Store_test(inventory, an_error_of_the_visitor_ends_the_listing)
{
	struct results results = {.error = -ENOSPC};

	cr_assert_eq(fixture_put(fixture.store, 1), 0);
	cr_assert_eq(fixture_put(fixture.store, 2), 0);
	cr_expect_eq(read_key(&results), -ENOSPC);
	cr_expect_eq(results.count, 1);
}

Store_test(inventory, reading_does_not_update_the_atime)
{
	/* an atime older than mtime, which the kernel would update on a read (except without access times) */
	struct timespec times[2] = {{.tv_sec = 1000}, {.tv_sec = 2000}};
	struct results results = {.error = 0};
	struct stat found;

	cr_assert_eq(fixture_put(fixture.store, 1), 0);
	cr_assert_eq(utimensat(AT_FDCWD, fixture.path, times, 0), 0);
	cr_assert_eq(read_key(&results), 0);
	cr_assert_eq(stat(fixture.path, &found), 0);
	cr_expect_eq(found.st_atim.tv_sec, 1000);
}

static size_t found(const char *digits)
{
	struct directory directory = here();
	struct inventory inventory;
	size_t count;

	cr_assert_eq(inventory_take(&directory, DIRECTORY_ENTRY, digits, NULL, &inventory), 0);
	count = inventory.count;
	inventory_free(&inventory);
	return count;
}

Store_test(inventory, keys_are_found_by_an_odd_or_even_number_of_digits)
{
	put_key(0x20, 0x17);
	put_key(0x21, 0x17);
	put_key(0x21, 0x27);
	put_key(0x30, 0x17);
	cr_expect_eq(found(""), 4);
	cr_expect_eq(found("2"), 3);
	cr_expect_eq(found("21"), 2);
	cr_expect_eq(found("210"), 2);
	cr_expect_eq(found("211"), 0);
	cr_expect_eq(found("2100000000000000000000000000000000000000000000000000000000000002"), 0);
	cr_expect_eq(found("210000000000000000000000000000000000000000000000000000000000002"), 1);
	cr_expect_eq(found("2100000000000000000000000000000000000000000000000000000000000027"), 1);
	cr_expect_eq(found("4"), 0);
}

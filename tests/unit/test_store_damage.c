/* SPDX-License-Identifier: MIT */
/* store: files that it did not write like this are misses and are removed; they never block, crash or give a hit */
#include "store_fixture.h"

#include <xxhash.h>

TestSuite(store_damage, .init = fixture_open, .fini = fixture_close, .timeout = 120);

/* Writes `bytes` and expects a miss that removes the file. */
static void expect_damaged(const uint8_t *bytes, size_t size, const char *what, size_t number)
{
	fixture_write(fixture.path, bytes, size);
	cr_assert_eq(fixture_get(fixture.store, 1), -EBADMSG, "%s %zu", what, number);
	cr_assert_not(fixture_exists(fixture.path), "%s %zu was not removed", what, number);
}

static uint8_t *put_and_read(size_t *ret_size)
{
	cr_assert_eq(fixture_put_sized(fixture.store, 1, 40), 0);
	return fixture_read(fixture.path, ret_size);
}

static unsigned asked;

static bool count_check(void *context, const void *dependencies, size_t size)
{
	int value;

	asked++;
	cr_assert_eq(size, sizeof(value));
	memcpy(&value, dependencies, sizeof(value));
	cr_assert(value == 1 || value == 2, "check saw damaged dependencies");
	return false;
}

Store_test(store_damage, check_never_sees_damaged_dependencies)
{
	struct entry *entry;
	size_t size;
	uint8_t *bytes;

	cr_assert_eq(fixture_put(fixture.store, 1), 0);
	cr_assert_eq(fixture_put(fixture.store, 2), 0);
	bytes = fixture_read(fixture.path, &size);
	bytes[size / 2 + ENTRY_HEADER_BYTES] ^= 8;
	fixture_write(fixture.path, bytes, size);
	cr_assert_eq(store_get(fixture.store, fixture_key, count_check, NULL, &entry), -EBADMSG);
	cr_assert_eq(asked, 1);
	free(bytes);
}

Store_test(store_damage, results_before_a_damaged_tail_are_found_and_preserved)
{
	size_t size;
	uint8_t *bytes;

	cr_assert_eq(fixture_put(fixture.store, 1), 0);
	cr_assert_eq(fixture_put(fixture.store, 2), 0);
	bytes = fixture_read(fixture.path, &size);
	fixture_write(fixture.path, bytes, size - 1);
	cr_assert_eq(fixture_get(fixture.store, 2), 2);
	cr_assert_eq(fixture_put(fixture.store, 3), 0);
	cr_assert_eq(fixture_get(fixture.store, 3), 3);
	cr_assert_eq(fixture_get(fixture.store, 2), 2);
	cr_assert_eq(fixture_get(fixture.store, 1), -ESTALE, "the damaged tail was dropped by the put");
	free(bytes);
}

Store_test(store_damage, put_drops_an_old_result_with_a_damaged_body)
{
	size_t size;
	uint8_t *bytes;

	cr_assert_eq(fixture_put(fixture.store, 1), 0);
	cr_assert_eq(fixture_put(fixture.store, 2), 0);
	bytes = fixture_read(fixture.path, &size);
	bytes[size / 2 - 20] ^= 1; /* in the first result's section */
	fixture_write(fixture.path, bytes, size);
	cr_assert_eq(fixture_put(fixture.store, 3), 0);
	cr_assert_eq(fixture_get(fixture.store, 3), 3);
	cr_assert_eq(fixture_get(fixture.store, 1), 1);
	cr_assert_eq(fixture_get(fixture.store, 2), -ESTALE);
	free(bytes);
}

Store_test(store_damage, the_file_of_another_key_is_a_miss)
{
	uint8_t key[ENTRY_KEY_BYTES];
	char path[320];

	memcpy(key, fixture_key, sizeof(key));
	key[31] = 0x02;
	cr_assert_eq(fixture_put_entry(fixture.store, fixture_entry(key, 1, 10)), 0);
	cr_assert_eq(fixture_put(fixture.store, 1), 0);
	memcpy(path, fixture.path, sizeof(path));
	path[strlen(path) - 1] = '2';
	cr_assert_eq(rename(path, fixture.path), 0);
	cr_assert_eq(fixture_get(fixture.store, 1), -EBADMSG);
	cr_assert_not(fixture_exists(fixture.path));
}

Store_test(store_damage, another_format_is_a_miss_and_is_replaced)
{
	size_t size;
	uint8_t *bytes = put_and_read(&size);
	XXH128_hash_t hash;

	bytes[8]++;
	hash = XXH3_128bits(bytes, 176);
	memcpy(bytes + 176, &hash.low64, 8);
	memcpy(bytes + 184, &hash.high64, 8);
	expect_damaged(bytes, size, "format", bytes[8]);
	fixture_write(fixture.path, bytes, size);
	cr_assert_eq(fixture_put(fixture.store, 2), 0);
	cr_assert_eq(fixture_get(fixture.store, 2), 2);
	free(bytes);
}

/* Expects a miss that neither blocks nor removes other files, and a put that repairs the entry. */
static void expect_mended(int wanted)
{
	cr_assert_eq(fixture_get(fixture.store, 1), wanted);
	cr_assert_eq(fixture_put(fixture.store, 1), 0);
	cr_assert_eq(fixture_get(fixture.store, 1), 1);
}

Store_test(store_damage, a_directory_in_place_of_an_entry_is_a_miss)
{
	cr_assert_eq(fixture_put(fixture.store, 1), 0);
	unlink(fixture.path);
	cr_assert_eq(mkdir(fixture.path, 0700), 0);
	cr_assert_eq(fixture_put(fixture.store, 1), 0, "put over an empty directory");
	unlink(fixture.path);
	cr_assert_eq(mkdir(fixture.path, 0700), 0);
	expect_mended(-EBADMSG);
}

Store_test(store_damage, a_full_directory_in_place_of_an_entry_fails_a_put_cleanly)
{
	const char *inner = fixture_name(fixture.path, "", "file");

	cr_assert_eq(fixture_put(fixture.store, 1), 0);
	unlink(fixture.path);
	cr_assert_eq(mkdir(fixture.path, 0700), 0);
	fixture_write(inner, "x", 1);
	cr_assert_lt(fixture_put(fixture.store, 1), 0);
	cr_assert_eq(fixture_get(fixture.store, 1), -EBADMSG);
	cr_assert(fixture_exists(inner));
}

Store_test(store_damage, results_past_the_limit_are_not_read)
{
	size_t size;
	uint8_t *one = put_and_read(&size);
	uint8_t *many = malloc(size * 1000);

	for (size_t i = 0; i < 1000; i++) {
		memcpy(many + i * size, one, size);
	}
	fixture_write(fixture.path, many, size * 1000);
	asked = 0;
	cr_assert_eq(store_get(fixture.store, fixture_key, count_check, NULL, &(struct entry *){NULL}), -ESTALE);
	cr_assert_eq(asked, STORE_RESULTS_MAX);
	free(one);
	free(many);
}

static bool replaced_in_place; /* the same inode and size with another mtime; otherwise only the mtime is the same */

static bool replacing_check(void *context, const void *dependencies, size_t size)
{
	struct timespec times[2] = {{0}, {.tv_sec = 1000000000}};
	struct stat before;

	cr_assert_eq(stat(fixture.path, &before), 0);
	if (!replaced_in_place) {
		cr_assert_eq(fixture_put(context, 9), 0);
		times[1] = before.st_mtim;
	}
	cr_assert_eq(utimensat(AT_FDCWD, fixture.path, times, 0), 0);
	return true;
}

static void expect_replacement_stays(bool in_place)
{
	struct entry *entry;
	size_t size;
	uint8_t *bytes = put_and_read(&size);

	bytes[size - 1] ^= 1;
	fixture_write(fixture.path, bytes, size);
	replaced_in_place = in_place;
	cr_assert_eq(store_get(fixture.store, fixture_key, replacing_check, fixture.store, &entry), -EBADMSG);
	cr_assert(fixture_exists(fixture.path));
	free(bytes);
}

Store_test(store_damage, a_damaged_file_replaced_meanwhile_is_not_removed)
{
	expect_replacement_stays(false);
	cr_assert_eq(fixture_get(fixture.store, 9), 9);
}

STORE_ROW(store_damage, a_damaged_file_written_meanwhile_is_not_removed, expect_replacement_stays(true))

Store_test(store_damage, a_damaged_file_is_not_removed_during_a_put)
{
	int lock;

	cr_assert_eq(fixture_put(fixture.store, 1), 0);
	lock = fixture_lock();
	fixture_write(fixture.path, "damage", 6);
	cr_assert_eq(fixture_get(fixture.store, 1), -EBADMSG);
	cr_assert(fixture_exists(fixture.path));
	close(lock);
	cr_assert_eq(fixture_get(fixture.store, 1), -EBADMSG);
	cr_assert_not(fixture_exists(fixture.path));
}

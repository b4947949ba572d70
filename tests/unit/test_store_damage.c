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

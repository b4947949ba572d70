/* SPDX-License-Identifier: MIT */
/* envelope: what is sealed is opened, and nothing else is; parcel: what two nodes have of one key becomes one */
#include "agent/envelope.h"
#include "agent/parcel.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#define AT_VERSION  8
#define AT_FORMAT   12
#define AT_FLAGS    16
#define AT_RAW_SIZE 24
#define AT_KEY_ID   64

#define ONE "one 000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f\n"
#define TWO "two 100102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f\n"

static const uint8_t key[ENTRY_KEY_BYTES] = {1, 2, 3};
static const uint8_t other_key[ENTRY_KEY_BYTES] = {1, 2, 4};
static const char raw[] = "all results of one key, one behind the other, one behind the other";

static uint8_t *value;
static size_t value_size;

static struct keyring *ring(const char *text)
{
	struct keyring *keyring = NULL;
	unsigned line;

	cr_assert_eq(keyring_parse(text, &keyring, &line), 0);
	return keyring;
}

static void seal_with(const struct keyring *keyring)
{
	void *sealed;

	free(value);
	cr_assert_eq(envelope_seal(key, keyring, raw, sizeof(raw), &sealed, &value_size), 0);
	value = sealed;
}

static enum envelope_found open_with(const struct keyring *keyring, enum envelope_trust trust)
{
	void *got = NULL;
	size_t size = 0;
	enum envelope_found found =
	    envelope_open(value, value_size, key, keyring, trust, ENVELOPE_RAW_MAX, &got, &size);

	if (found == ENVELOPE_SOUND) {
		cr_assert_eq(size, sizeof(raw));
		cr_assert_arr_eq(got, raw, size);
	} else {
		cr_assert_null(got);
	}
	free(got);
	return found;
}

Test(envelope, who_is_believed)
{
	struct keyring *one = ring(ONE);
	struct keyring *two = ring(TWO);
	struct keyring *both = ring(TWO ONE);

	seal_with(one);
	cr_expect_eq(open_with(one, ENVELOPE_TRUST_KEYS), ENVELOPE_SOUND);
	cr_expect_eq(open_with(both, ENVELOPE_TRUST_KEYS), ENVELOPE_SOUND);
	cr_expect_eq(open_with(two, ENVELOPE_TRUST_KEYS), ENVELOPE_UNKNOWN_KEY);
	cr_expect_eq(open_with(NULL, ENVELOPE_TRUST_KEYS), ENVELOPE_UNKNOWN_KEY);
	cr_expect_eq(open_with(two, ENVELOPE_TRUST_ENGINE), ENVELOPE_SOUND);
	memcpy(value + AT_KEY_ID, "two", 3);
	cr_expect_eq(open_with(both, ENVELOPE_TRUST_KEYS), ENVELOPE_FORGED);
	cr_expect_eq(open_with(both, ENVELOPE_TRUST_ENGINE), ENVELOPE_FORGED);
	seal_with(NULL);
	cr_expect_eq(open_with(one, ENVELOPE_TRUST_KEYS), ENVELOPE_UNSIGNED);
	cr_expect_eq(open_with(NULL, ENVELOPE_TRUST_KEYS), ENVELOPE_UNSIGNED);
	cr_expect_eq(open_with(NULL, ENVELOPE_TRUST_ENGINE), ENVELOPE_SOUND);
	keyring_free(one);
	keyring_free(two);
	keyring_free(both);
}

Test(envelope, no_bit_may_differ)
{
	struct keyring *one = ring(ONE);

	seal_with(one);
	for (size_t i = 0; i < 8 * value_size; i++) {
		value[i / 8] ^= (uint8_t)(1 << i % 8);
		cr_expect_neq(open_with(one, ENVELOPE_TRUST_KEYS), ENVELOPE_SOUND, "bit %zu", i);
		value[i / 8] ^= (uint8_t)(1 << i % 8);
	}
	for (size_t size = value_size; value_size > 0; value_size = --size) {
		uint8_t *whole = value;

		value_size--;
		value = malloc(value_size + 1);
		memcpy(value, whole, value_size);
		cr_expect_neq(open_with(one, ENVELOPE_TRUST_KEYS), ENVELOPE_SOUND, "%zu bytes", value_size);
		free(value);
		value = whole;
	}
	keyring_free(one);
}

static void put_u32(size_t at, uint32_t number)
{
	memcpy(value + at, &number, sizeof(number));
}

static void put_u64(size_t at, uint64_t number)
{
	memcpy(value + at, &number, sizeof(number));
}

Test(envelope, each_fault_has_its_name)
{
	void *got = NULL;
	size_t size;

	seal_with(NULL);
	cr_expect_eq(
	    envelope_open(value, value_size, other_key, NULL, ENVELOPE_TRUST_ENGINE, ENVELOPE_RAW_MAX, &got, &size),
	    ENVELOPE_OTHER_KEY);
	cr_expect_eq(envelope_open(value, value_size, key, NULL, ENVELOPE_TRUST_ENGINE, sizeof(raw) - 1, &got, &size),
	             ENVELOPE_LARGE);
	put_u32(AT_VERSION, ENVELOPE_VERSION + 1);
	cr_expect_eq(open_with(NULL, ENVELOPE_TRUST_ENGINE), ENVELOPE_FOREIGN);
	seal_with(NULL);
	put_u32(AT_FORMAT, ENTRY_FORMAT + 1);
	cr_expect_eq(open_with(NULL, ENVELOPE_TRUST_ENGINE), ENVELOPE_FOREIGN);
	seal_with(NULL);
	put_u32(AT_FLAGS, 2);
	cr_expect_eq(open_with(NULL, ENVELOPE_TRUST_ENGINE), ENVELOPE_FOREIGN);
	seal_with(NULL);
	value[value_size - 1] ^= 1;
	cr_assert_null(got);
}

/* What is packed is not looked at, so it need not be there. */
static enum envelope_found check(enum envelope_content content, uint64_t size, int *ret_closed)
{
	uint8_t head[ENVELOPE_HEAD_BYTES + 1] = {0};
	uint64_t said = 0;
	enum envelope_found found;

	*ret_closed = envelope_close(key, content, NULL, head, 1, size);
	found = envelope_check(head, sizeof(head), key, content, NULL, ENVELOPE_TRUST_ENGINE, UINT64_MAX, &said);
	cr_expect_eq(said, found == ENVELOPE_SOUND ? size : 0);
	return found;
}

Test(envelope, what_is_as_large_as_it_may_be_can_be_sealed_and_opened)
{
	static const struct {
		enum envelope_content content;
		uint64_t most;
	} kinds[] = {{ENVELOPE_RESULTS, ENVELOPE_RAW_MAX}, {ENVELOPE_BUNDLE, ENVELOPE_BUNDLE_MAX}};
	int closed;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		cr_expect_eq(check(kinds[i].content, kinds[i].most, &closed), ENVELOPE_SOUND);
		cr_expect_eq(closed, 0);
		(void)check(kinds[i].content, kinds[i].most + 1, &closed);
		cr_expect_eq(closed, -EFBIG);
	}
}

Test(envelope, what_unpacks_to_more_or_less_than_it_says_is_damaged)
{
	static uint8_t zeros[1 << 20];

	seal_with(NULL);
	put_u64(AT_RAW_SIZE, sizeof(raw) + 1);
	cr_expect_eq(open_with(NULL, ENVELOPE_TRUST_ENGINE), ENVELOPE_DAMAGED);
	put_u64(AT_RAW_SIZE, sizeof(raw) - 1);
	cr_expect_eq(open_with(NULL, ENVELOPE_TRUST_ENGINE), ENVELOPE_DAMAGED);
	put_u64(AT_RAW_SIZE, ENVELOPE_RAW_MAX + 1);
	cr_expect_eq(open_with(NULL, ENVELOPE_TRUST_ENGINE), ENVELOPE_LARGE);
	/* a bomb: a megabyte of zeros that says it is small */
	put_u64(AT_RAW_SIZE, sizeof(raw));
	value = realloc(value, ENVELOPE_HEAD_BYTES + ZSTD_compressBound(sizeof(zeros)));
	value_size = ENVELOPE_HEAD_BYTES + ZSTD_compress(value + ENVELOPE_HEAD_BYTES, ZSTD_compressBound(sizeof(zeros)),
	                                                 zeros, sizeof(zeros), 3);
	cr_expect_eq(open_with(NULL, ENVELOPE_TRUST_ENGINE), ENVELOPE_DAMAGED);
	/* two frames where one is expected */
	seal_with(NULL);
	value = realloc(value, 2 * value_size);
	memcpy(value + value_size, value + ENVELOPE_HEAD_BYTES, value_size - ENVELOPE_HEAD_BYTES);
	value_size += value_size - ENVELOPE_HEAD_BYTES;
	cr_expect_eq(open_with(NULL, ENVELOPE_TRUST_ENGINE), ENVELOPE_DAMAGED);
}

static struct entry *result(const uint8_t *of, const char *conditions, size_t size)
{
	struct section section = {.tag = 0x100, .bytes = conditions, .size = size};
	struct entry *entry;

	cr_assert_eq(entry_build(of, 7, conditions, strlen(conditions), &section, 1, &entry), 0);
	return entry;
}

static void add(struct parcel *parcel, const char *conditions)
{
	struct entry *entry = result(key, conditions, strlen(conditions));

	cr_assert_eq(parcel_add(parcel, entry), 0);
	entry_unref(entry);
}

Test(parcel, what_is_written_is_read)
{
	struct parcel parcel = {.count = 0};
	struct parcel again = {.count = 0};
	size_t size;
	void *bytes;

	add(&parcel, "newest");
	add(&parcel, "older");
	cr_assert_eq(parcel_write(&parcel, ENVELOPE_RAW_MAX, &bytes, &size), 0);
	cr_assert_eq(parcel_read(bytes, size, key, &again), 0);
	cr_assert_eq(again.count, 2);
	cr_assert_eq(parcel_sum(&parcel), parcel_sum(&again));
	cr_assert(parcel_holds(&again, &parcel));
	parcel_free(&again);
	cr_assert_eq(parcel_read(bytes, size, other_key, &again), -EBADMSG);
	cr_assert_eq(parcel_read(bytes, size - 1, key, &again), -EBADMSG);
	cr_assert_eq(parcel_read(bytes, 0, key, &again), -EBADMSG);
	((uint8_t *)bytes)[size / 2] ^= 1;
	cr_assert_eq(parcel_read(bytes, size, key, &again), -EBADMSG);
	cr_assert_eq(again.count, 0);
	free(bytes);
	/* where not all find room, the newest do */
	cr_assert_eq(parcel_write(&parcel, size - 1, &bytes, &size), 0);
	cr_assert_eq(parcel_read(bytes, size, key, &again), 0);
	cr_assert_eq(again.count, 1);
	cr_assert_arr_eq(entry_conditions(again.entries[0], &size), "newest", 6);
	free(bytes);
	parcel_free(&again);
	cr_assert_eq(parcel_write(&parcel, 100, &bytes, &size), -EFBIG);
	parcel_free(&parcel);
}

Test(parcel, two_nodes_results_become_one)
{
	struct parcel ours = {.count = 0};
	struct parcel theirs = {.count = 0};

	add(&ours, "a");
	add(&ours, "b");
	add(&theirs, "b");
	cr_assert(parcel_holds(&ours, &theirs));
	cr_assert_not(parcel_merge(&ours, &theirs));
	add(&theirs, "c");
	cr_assert_not(parcel_holds(&ours, &theirs));
	cr_assert(parcel_merge(&ours, &theirs));
	cr_assert_eq(ours.count, 3);
	parcel_free(&theirs);
	for (int i = 0; i < STORE_RESULTS_MAX; i++) {
		add(&theirs, (char[]){(char)('d' + i), '\0'});
	}
	cr_assert(parcel_merge(&ours, &theirs));
	cr_assert_eq(ours.count, STORE_RESULTS_MAX);
	cr_assert_not(parcel_merge(&ours, &theirs));
	parcel_free(&theirs);
	parcel_free(&ours);
}

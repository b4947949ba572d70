/* SPDX-License-Identifier: MIT */
/* value: results are sealed and opened unchanged, and nothing else is believed */
#include "agent/wire/value.h"

#include "agent/engine/engine.h"
#include "tests/unit/support.h"

#include <endian.h>
#include <zstd.h>

#define AT_VERSION  8
#define AT_FORMAT   12
#define AT_RAW_SIZE 16
#define AT_KEY_ID   56
#define AT_MAC      72

#define ONE "one 000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f\n"
#define TWO "two 100102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f\n"

static const uint8_t key[ENTRY_KEY_BYTES] = {1, 2, 3};
static const uint8_t other_key[ENTRY_KEY_BYTES] = {1, 2, 4};

static uint8_t *value;
static size_t value_size;
static struct value_rules rules = {.raw_max = VALUE_RAW_MAX};
static struct results opened;

/* The ring is overwritten by the fourth call after this one. */
static const struct keyring *ring(const char *text)
{
	static struct keyring rings[4];
	static unsigned next;
	struct keyring *keyring = &rings[next++ % 4];

	cr_assert_eq(keyring_parse(text, keyring), 0);
	return keyring;
}

static struct entry *entry_of(const uint8_t *of, char text, size_t size)
{
	char bytes[70000];
	const struct section section = {.tag = 1, .bytes = bytes, .size = size};
	struct entry *entry = NULL;

	memset(bytes, text, sizeof(bytes));
	cr_assert_eq(entry_build(of, 7, "", 0, &section, 1, &entry), 0);
	return entry;
}

static void seal(struct results results, const char *keys)
{
	const struct keyring *keyring = keys != NULL ? ring(keys) : NULL;
	void *made;

	free(value);
	cr_assert_eq(value_seal(&results, key, keyring, VALUE_RAW_MAX, &made, &value_size), 0);
	value = made;
	results_free(&results);
}

static void seal_two(const char *keys)
{
	seal((struct results){{entry_of(key, 'a', 60000), entry_of(key, 'b', 100)}, 2}, keys);
}

static enum value_found open_with(const char *keys)
{
	results_free(&opened);
	rules.keyring = keys != NULL ? ring(keys) : NULL;
	return value_open(value, value_size, key, &rules, &opened);
}

static char text_of(size_t at)
{
	struct section section;

	cr_assert_lt(at, opened.count);
	cr_assert(entry_section(opened.entries[at], 1, &section));
	return *(const char *)section.bytes;
}

/* Signs the bytes as they are, as an attacker with the key would. */
static void sign(const char *keys)
{
	keyring_sign(&ring(keys)->keys[0], value, AT_MAC, value + VALUE_HEAD_BYTES, value_size - VALUE_HEAD_BYTES,
	             value + AT_MAC);
}

Test(value, results_are_returned_in_order)
{
	seal_two(ONE);
	cr_assert_eq(open_with(ONE), VALUE_SOUND);
	cr_expect_eq(opened.count, 2);
	cr_expect_eq(text_of(0), 'a');
	cr_expect_eq(text_of(1), 'b');
	cr_expect_lt(value_size, 2000, "it is compressed");
}

Test(value, the_key_of_the_signature_has_to_be_known)
{
	seal_two(ONE);
	cr_expect_eq(open_with(TWO), VALUE_FORGED);
	cr_expect_eq(open_with(NULL), VALUE_FORGED);
	cr_expect_eq(open_with(ONE TWO), VALUE_SOUND);
	cr_expect_eq(open_with(TWO ONE), VALUE_AGED);
	cr_expect_eq(opened.count, 2);
}

Test(value, unsigned_values_are_only_accepted_from_a_trusted_engine)
{
	seal_two(NULL);
	cr_expect_eq(open_with(ONE), VALUE_FORGED);
	cr_expect_eq(open_with(NULL), VALUE_FORGED);
	rules.trust = VALUE_TRUST_ENGINE;
	cr_expect_eq(open_with(NULL), VALUE_SOUND);
	cr_expect_eq(open_with(ONE), VALUE_AGED);
	seal_two(TWO);
	cr_expect_eq(open_with(ONE), VALUE_AGED);
	value[value_size - 1] ^= 1;
	cr_expect_eq(open_with(TWO), VALUE_FORGED, "a wrong signature of a known key is never accepted");
}

Test(value, each_byte_is_covered)
{
	seal_two(ONE);
	for (size_t i = 0; i < value_size; i++) {
		value[i] ^= 0x40;
		cr_assert_neq(open_with(ONE), VALUE_SOUND, "byte %zu", i);
		cr_assert_eq(opened.count, 0);
		value[i] ^= 0x40;
	}
	cr_assert_eq(open_with(ONE), VALUE_SOUND);
}

Test(value, a_value_that_is_cut_is_refused)
{
	size_t whole;

	seal_two(ONE);
	whole = value_size;
	for (value_size = 0; value_size < whole; value_size++) {
		cr_assert_eq(open_with(ONE), value_size < VALUE_HEAD_BYTES ? VALUE_FOREIGN : VALUE_FORGED);
	}
}

Test(value, a_value_cannot_be_moved_to_another_key)
{
	seal_two(ONE);
	rules.keyring = ring(ONE);
	cr_expect_eq(value_open(value, value_size, other_key, &rules, &opened), VALUE_OTHER_KEY);
}

Test(value, another_format_is_foreign)
{
	static const size_t places[] = {0, AT_VERSION, AT_FORMAT};

	for (size_t i = 0; i < COUNT(places); i++) {
		seal_two(ONE);
		value[places[i]] ^= 1;
		sign(ONE);
		cr_expect_eq(open_with(ONE), VALUE_FOREIGN);
	}
}

static void say_raw_size(uint64_t size)
{
	size = htole64(size);
	memcpy(value + AT_RAW_SIZE, &size, sizeof(size));
	sign(ONE);
}

/* A value whose head lies about its size must not make the agent take that much memory. */
Test(value, signed_sizes_that_are_not_so_are_refused)
{
	uint64_t raw_size;

	seal_two(ONE);
	memcpy(&raw_size, value + AT_RAW_SIZE, sizeof(raw_size));
	raw_size = le64toh(raw_size);
	say_raw_size(UINT64_MAX);
	cr_expect_eq(open_with(ONE), VALUE_LARGE);
	say_raw_size(0);
	cr_expect_eq(open_with(ONE), VALUE_DAMAGED);
	say_raw_size(raw_size - 16);
	cr_expect_eq(open_with(ONE), VALUE_DAMAGED);
	say_raw_size(raw_size + 16);
	cr_expect_eq(open_with(ONE), VALUE_DAMAGED);
	say_raw_size(raw_size);
	rules.raw_max = raw_size - 1;
	cr_expect_eq(open_with(ONE), VALUE_LARGE);
	rules.raw_max = raw_size;
	cr_expect_eq(open_with(ONE), VALUE_SOUND);
}

/* Seals any bytes, as an attacker with the key would. */
static void seal_bytes(const void *bytes, size_t size)
{
	seal_two(ONE);
	value = realloc(value, VALUE_HEAD_BYTES + ZSTD_compressBound(size));
	value_size =
	    VALUE_HEAD_BYTES + ZSTD_compress(value + VALUE_HEAD_BYTES, ZSTD_compressBound(size), bytes, size, 1);
	say_raw_size(size);
}

Test(value, signed_bytes_that_are_no_results_of_the_key_are_refused)
{
	static uint8_t noise[4096];
	struct entry *of_other = entry_of(other_key, 'c', 100);
	struct entry *sound = entry_of(key, 'a', 100);
	size_t size;
	const void *bytes = entry_bytes(of_other, &size);

	seal_bytes(bytes, size);
	cr_expect_eq(open_with(ONE), VALUE_DAMAGED);
	seal_bytes(noise, sizeof(noise));
	cr_expect_eq(open_with(ONE), VALUE_DAMAGED);
	bytes = entry_bytes(sound, &size);
	for (size_t i = 0; i <= STORE_RESULTS_MAX; i++) {
		noise[i] = 0;
	}
	seal_bytes(bytes, size - 16);
	cr_expect_eq(open_with(ONE), VALUE_DAMAGED);
	memcpy(noise, bytes, size);
	seal_bytes(noise, size + 16);
	cr_expect_eq(open_with(ONE), VALUE_DAMAGED, "bytes after the last result");
	entry_unref(of_other);
	entry_unref(sound);
}

Test(value, more_than_sixteen_results_are_refused)
{
	static uint8_t bytes[(STORE_RESULTS_MAX + 1) * 1024];
	struct entry *entry = entry_of(key, 'a', 100);
	size_t size;
	const void *one = entry_bytes(entry, &size);

	for (size_t i = 0; i <= STORE_RESULTS_MAX; i++) {
		memcpy(bytes + i * size, one, size);
	}
	seal_bytes(bytes, STORE_RESULTS_MAX * size);
	cr_expect_eq(open_with(ONE), VALUE_SOUND);
	seal_bytes(bytes, (STORE_RESULTS_MAX + 1) * size);
	cr_expect_eq(open_with(ONE), VALUE_DAMAGED);
	entry_unref(entry);
}

Test(value, results_that_do_not_fit_are_not_sealed)
{
	struct results results = {{entry_of(key, 'b', 1000), entry_of(key, 'a', 1000)}, 2};
	uint64_t size = entry_info(results.entries[0])->total_size;
	void *made;

	cr_expect_eq(value_seal(&results, key, NULL, 2 * size - 1, &made, &value_size), -EFBIG);
	cr_expect_eq(value_seal(&results, key, NULL, 2 * size, &made, &value_size), 0);
	results_free(&results);
}

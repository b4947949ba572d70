/* SPDX-License-Identifier: MIT */
/* value: packed and signed bytes are unpacked unchanged, or with an error; parcel: results of two nodes are merged */
#include "agent/wire/value.h"

#include "agent/engine/engine.h"
#include "agent/wire/parcel.h"
#include "cache/tools/bundle.h"
#include "tests/unit/support.h"

#include <endian.h>

#define AT_VERSION  8
#define AT_FORMAT   12
#define AT_FLAGS    16
#define AT_RAW_SIZE 24
#define AT_KEY_ID   64

#define ONE "one 000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f\n"
#define TWO "two 100102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f\n"

static const uint8_t key[ENTRY_KEY_BYTES] = {1, 2, 3};
static const uint8_t other_key[ENTRY_KEY_BYTES] = {1, 2, 4};
static uint8_t raw[20000];

static uint8_t *value;
static size_t value_size;

static struct keyring *ring(const char *text)
{
	struct keyring *keyring = NULL;
	unsigned line;

	cr_assert_eq(keyring_parse(text, &keyring, &line), 0);
	return keyring;
}

/* Fills the bytes with text, and then with incompressible data. */
static void fill(uint8_t *bytes, size_t size)
{
	uint64_t random = 88172645463325252u;

	for (size_t i = 0; i < size; i++) {
		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		bytes[i] = i < size / 2 ? "results "[i % 8] : (uint8_t)random;
	}
}

static void seal_with(const struct keyring *keyring, uint64_t raw_size)
{
	struct value_writer writer;
	void *made;

	free(value);
	fill(raw, sizeof(raw));
	cr_assert_eq(value_begin(&writer, VALUE_QUICK, raw_size, sizeof(raw)), 0);
	for (size_t at = 0; at < sizeof(raw); at += sizeof(raw) / 10) {
		cr_assert_eq(value_write(&writer, raw + at, sizeof(raw) / 10), 0);
	}
	cr_assert_eq(value_end(&writer, key, keyring, &made, &value_size), 0);
	value = made;
}

/* Unpacks with reads of `at_a_time` bytes. Returns the number of bytes, or an error; never more than the head says. */
static ssize_t unpack(struct value_reader *reader, size_t at_a_time)
{
	static uint8_t got[sizeof(raw) + 65536];
	uint64_t said = reader->left;
	size_t done = 0;
	ssize_t more;

	do {
		cr_assert_leq(done + at_a_time, sizeof(got));
		more = value_read(reader, got + done, at_a_time);
		done += more > 0 ? (size_t)more : 0;
	} while (more > 0);
	cr_expect_leq(done, said);
	if (more == 0) {
		cr_expect_eq(done, sizeof(raw));
		cr_expect_arr_eq(got, raw, sizeof(raw));
	}
	return more < 0 ? more : (ssize_t)done;
}

static enum value_found open_with(const struct keyring *keyring, enum value_trust trust)
{
	struct value_reader reader;
	enum value_found found = value_open(value, value_size, key, keyring, trust, sizeof(raw), &reader);

	if (found == VALUE_SOUND) {
		found = unpack(&reader, 1000) == (ssize_t)sizeof(raw) ? VALUE_SOUND : VALUE_DAMAGED;
		value_close(&reader);
	}
	return found;
}

Test(value, packed_bytes_are_unpacked_again)
{
	struct value_reader reader;

	for (int known = 0; known < 2; known++) {
		seal_with(NULL, known ? sizeof(raw) : 0);
		for (size_t at_a_time = 1; at_a_time < 30000; at_a_time = 3 * at_a_time + 1) {
			cr_assert_eq(value_open(value, value_size, key, NULL, VALUE_TRUST_ENGINE, sizeof(raw), &reader),
			             VALUE_SOUND);
			cr_assert_eq(unpack(&reader, at_a_time), (ssize_t)sizeof(raw));
			value_close(&reader);
		}
	}
}

Test(value, signatures_are_checked_as_the_trust_says)
{
	struct keyring *one = ring(ONE);
	struct keyring *two = ring(TWO);
	struct keyring *both = ring(TWO ONE);

	seal_with(one, 0);
	cr_expect_eq(open_with(one, VALUE_TRUST_KEYS), VALUE_SOUND);
	cr_expect_eq(open_with(both, VALUE_TRUST_KEYS), VALUE_SOUND);
	cr_expect_eq(open_with(two, VALUE_TRUST_KEYS), VALUE_UNKNOWN_KEY);
	cr_expect_eq(open_with(NULL, VALUE_TRUST_KEYS), VALUE_UNKNOWN_KEY);
	cr_expect_eq(open_with(two, VALUE_TRUST_ENGINE), VALUE_SOUND);
	memcpy(value + AT_KEY_ID, "two", 3);
	cr_expect_eq(open_with(both, VALUE_TRUST_KEYS), VALUE_FORGED);
	cr_expect_eq(open_with(both, VALUE_TRUST_ENGINE), VALUE_FORGED);
	seal_with(NULL, 0);
	cr_expect_eq(open_with(one, VALUE_TRUST_KEYS), VALUE_UNSIGNED);
	cr_expect_eq(open_with(NULL, VALUE_TRUST_KEYS), VALUE_UNSIGNED);
	cr_expect_eq(open_with(NULL, VALUE_TRUST_ENGINE), VALUE_SOUND);
	keyring_free(one);
	keyring_free(two);
	keyring_free(both);
}

Test(value, every_flipped_or_missing_bit_is_detected)
{
	struct keyring *one = ring(ONE);
	struct value_reader reader;

	seal_with(one, 0);
	for (size_t i = 0; i < value_size; i++) {
		value[i] ^= (uint8_t)(1 << i % 8);
		cr_expect_neq(open_with(one, VALUE_TRUST_KEYS), VALUE_SOUND, "byte %zu", i);
		value[i] ^= (uint8_t)(1 << i % 8);
	}
	for (size_t i = 0; i < 8 * (size_t)VALUE_HEAD_BYTES; i++) {
		value[i / 8] ^= (uint8_t)(1 << i % 8);
		cr_expect_neq(open_with(one, VALUE_TRUST_KEYS), VALUE_SOUND, "bit %zu", i);
		value[i / 8] ^= (uint8_t)(1 << i % 8);
	}
	for (size_t size = 0; size < value_size; size++) {
		cr_expect_neq(value_open(value, size, key, one, VALUE_TRUST_KEYS, sizeof(raw), &reader), VALUE_SOUND);
	}
	keyring_free(one);
}

static void put_raw_size(uint64_t number)
{
	number = htole64(number);
	memcpy(value + AT_RAW_SIZE, &number, sizeof(number));
}

Test(value, each_fault_has_its_code)
{
	static const struct {
		size_t at;
		uint32_t number;
	} foreign[] = {{AT_VERSION, VALUE_VERSION + 1}, {AT_FORMAT, ENTRY_FORMAT + 1}, {AT_FLAGS, 2}};
	struct value_reader reader;

	seal_with(NULL, 0);
	cr_expect_eq(value_open(value, value_size, other_key, NULL, VALUE_TRUST_ENGINE, sizeof(raw), &reader),
	             VALUE_OTHER_KEY);
	cr_expect_eq(value_open(value, value_size, key, NULL, VALUE_TRUST_ENGINE, sizeof(raw) - 1, &reader),
	             VALUE_LARGE);
	for (size_t i = 0; i < COUNT(foreign); i++) {
		seal_with(NULL, 0);
		memcpy(value + foreign[i].at, &foreign[i].number, sizeof(foreign[i].number));
		cr_expect_eq(open_with(NULL, VALUE_TRUST_ENGINE), VALUE_FOREIGN, "%zu", i);
	}
}

Test(value, a_value_with_a_wrong_unpacked_size_is_damaged)
{
	static const int more[] = {-20000, -1, 1};
	size_t whole;

	for (size_t i = 0; i < COUNT(more); i++) {
		seal_with(NULL, 0);
		put_raw_size(sizeof(raw) + (uint64_t)(int64_t)more[i]);
		cr_expect_eq(open_with(NULL, VALUE_TRUST_ENGINE), more[i] < 0 ? VALUE_DAMAGED : VALUE_LARGE);
	}
	seal_with(NULL, 0);
	whole = value_size;
	value_size = whole - 1;
	cr_expect_eq(open_with(NULL, VALUE_TRUST_ENGINE), VALUE_DAMAGED);
	value_size = VALUE_HEAD_BYTES;
	cr_expect_eq(open_with(NULL, VALUE_TRUST_ENGINE), VALUE_DAMAGED);
	/* two frames where one is expected */
	value = realloc(value, 2 * whole);
	memcpy(value + whole, value + VALUE_HEAD_BYTES, whole - VALUE_HEAD_BYTES);
	value_size = 2 * whole - VALUE_HEAD_BYTES;
	cr_expect_eq(open_with(NULL, VALUE_TRUST_ENGINE), VALUE_DAMAGED);
}

Test(value, a_decompression_bomb_unpacks_no_more_than_its_header_says)
{
	static uint8_t zeros[1 << 20];
	struct value_writer writer;
	struct value_reader reader;
	void *made;

	cr_assert_eq(value_begin(&writer, VALUE_QUICK, 0, sizeof(zeros)), 0);
	cr_assert_eq(value_write(&writer, zeros, sizeof(zeros)), 0);
	cr_assert_eq(value_end(&writer, key, NULL, &made, &value_size), 0);
	value = made;
	put_raw_size(100);
	cr_assert_eq(value_open(value, value_size, key, NULL, VALUE_TRUST_ENGINE, 100, &reader), VALUE_SOUND);
	cr_expect_eq(value_read(&reader, zeros, sizeof(zeros)), -EBADMSG);
	value_close(&reader);
}

Test(value, a_writer_rejects_bytes_past_its_limit)
{
	struct value_writer writer;

	cr_assert_eq(value_begin(&writer, VALUE_QUICK, 0, 100), 0);
	cr_expect_eq(value_write(&writer, raw, 60), 0);
	cr_expect_eq(value_write(&writer, raw, 41), -EFBIG);
	cr_expect_eq(value_write(&writer, raw, 40), 0);
	cr_expect_eq(value_write(&writer, raw, 1), -EFBIG);
	value_abandon(&writer);
}

Test(value, values_too_large_for_engines_are_not_created)
{
	size_t size = ENGINE_VALUE_MAX / 4;
	uint8_t *bytes = malloc(size);
	struct value_writer writer;
	int error = 0;

	fill(bytes, size);
	cr_assert_eq(value_begin(&writer, VALUE_QUICK, 0, VALUE_BUNDLE_MAX), 0);
	for (int i = 0; i < 9 && error == 0; i++) {
		/* the incompressible half, which changes each time, so that the packer finds no repetition in its
		 * window */
		bytes[size / 2 + i]++;
		error = value_write(&writer, bytes + size / 2, size / 2);
	}
	cr_expect_eq(error, -EFBIG);
	value_abandon(&writer);
	free(bytes);
}

Test(value, names_are_restricted_and_give_different_keys)
{
	char name[VALUE_NAME_MAX + 2];
	uint8_t one[ENTRY_KEY_BYTES], other[ENTRY_KEY_BYTES];

	cr_expect(value_name_allowed("team/train-v1.2:sm_90+a@b"));
	cr_expect_not(value_name_allowed(""));
	cr_expect_not(value_name_allowed("a b"));
	cr_expect_not(value_name_allowed("a\n"));
	memset(name, 'a', sizeof(name));
	name[VALUE_NAME_MAX] = '\0';
	cr_expect(value_name_allowed(name));
	name[VALUE_NAME_MAX] = 'a';
	name[VALUE_NAME_MAX + 1] = '\0';
	cr_expect_not(value_name_allowed(name));
	value_name_key("train", one);
	value_name_key("trains", other);
	cr_expect_arr_neq(one, other, sizeof(other));
}

static struct entry *result(const uint8_t *of, const char *dependencies)
{
	struct section section = {.tag = 0x100, .bytes = dependencies, .size = strlen(dependencies)};
	struct entry *entry;

	cr_assert_eq(entry_build(of, 7, dependencies, strlen(dependencies), &section, 1, &entry), 0);
	return entry;
}

static void add(struct parcel *parcel, const char *dependencies)
{
	struct entry *entry = result(key, dependencies);

	cr_assert_eq(parcel_add(parcel, entry), 0);
	entry_unref(entry);
}

static enum value_found open_parcel(const uint8_t *of, const void *bytes, size_t size, struct parcel *ret_parcel)
{
	*ret_parcel = (struct parcel){.count = 0};
	return parcel_open(bytes, size, of, NULL, VALUE_TRUST_ENGINE, VALUE_RAW_MAX, ret_parcel);
}

static const char *newest_of(const struct parcel *parcel)
{
	size_t size;

	return entry_dependencies(parcel->entries[0], &size);
}

Test(parcel, a_sealed_parcel_can_be_opened)
{
	struct parcel parcel = {.count = 0};
	struct parcel again;
	uint64_t size_of_two;
	size_t size;
	void *bytes;

	add(&parcel, "newest");
	add(&parcel, "older");
	cr_assert_eq(parcel_seal(&parcel, key, NULL, VALUE_RAW_MAX, &bytes, &size), 0);
	cr_assert_eq(open_parcel(key, bytes, size, &again), VALUE_SOUND);
	cr_assert_eq(again.count, 2);
	cr_assert(parcel_holds(&again, &parcel));
	cr_expect(memcmp(newest_of(&again), "newest", 6) == 0);
	parcel_free(&again);
	cr_expect_eq(open_parcel(other_key, bytes, size, &again), VALUE_OTHER_KEY);
	cr_expect_eq(open_parcel(key, bytes, size - 1, &again), VALUE_DAMAGED);
	cr_expect_eq(again.count, 0);
	free(bytes);
	/* if not all fit, the newest do */
	size_of_two = 4 * BUNDLE_FRAME_BYTES + entry_info(parcel.entries[0])->total_size +
	              entry_info(parcel.entries[1])->total_size;
	cr_assert_eq(parcel_seal(&parcel, key, NULL, size_of_two, &bytes, &size), 0);
	cr_expect_eq(open_parcel(key, bytes, size, &again), VALUE_SOUND);
	cr_expect_eq(again.count, 2);
	parcel_free(&again);
	free(bytes);
	cr_assert_eq(parcel_seal(&parcel, key, NULL, size_of_two - 1, &bytes, &size), 0);
	cr_expect_eq(open_parcel(key, bytes, size, &again), VALUE_SOUND);
	cr_expect_eq(again.count, 1);
	cr_expect(memcmp(newest_of(&again), "newest", 6) == 0);
	parcel_free(&again);
	free(bytes);
	cr_expect_eq(parcel_seal(&parcel, key, NULL, 100, &bytes, &size), -EFBIG);
	parcel_free(&parcel);
}

enum end { WITH_END, WITHOUT_END };

/* Opens a value of `key` with `count` entries of the key `of`. */
static enum value_found open_bundle_of(const uint8_t *of, int count, enum end end)
{
	struct value_writer writer;
	struct bundle_writer bundle;
	struct parcel parcel;
	enum value_found found;
	size_t size;
	void *bytes;

	cr_assert_eq(value_begin(&writer, VALUE_QUICK, 0, VALUE_RAW_MAX), 0);
	cr_assert_eq(bundle_write_begin(&bundle, 1, value_write, &writer), 0);
	for (int i = 0; i < count; i++) {
		struct entry *entry = result(of, (char[]){(char)('a' + i), '\0'});

		cr_assert_eq(bundle_write_entry(&bundle, entry), 0);
		entry_unref(entry);
	}
	if (end == WITH_END) {
		cr_assert_eq(bundle_write_end(&bundle), 0);
	}
	cr_assert_eq(value_end(&writer, key, NULL, &bytes, &size), 0);
	found = open_parcel(key, bytes, size, &parcel);
	parcel_free(&parcel);
	free(bytes);
	return found;
}

Test(parcel, a_bundle_that_is_truncated_or_has_another_key_or_too_many_entries_is_damaged)
{
	cr_expect_eq(open_bundle_of(key, 1, WITH_END), VALUE_SOUND);
	cr_expect_eq(open_bundle_of(key, 1, WITHOUT_END), VALUE_DAMAGED);
	cr_expect_eq(open_bundle_of(key, STORE_RESULTS_MAX, WITH_END), VALUE_SOUND);
	cr_expect_eq(open_bundle_of(key, STORE_RESULTS_MAX + 1, WITH_END), VALUE_DAMAGED);
	cr_expect_eq(open_bundle_of(key, 0, WITH_END), VALUE_DAMAGED);
	cr_expect_eq(open_bundle_of(other_key, 1, WITH_END), VALUE_DAMAGED);
}

Test(parcel, results_of_two_nodes_are_merged)
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

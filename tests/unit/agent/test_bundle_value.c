/* SPDX-License-Identifier: MIT */
/* bundle_value: a bundle comes out of a value as it was put in, or an error does */
#include "agent/bundle_value.h"

#include "agent/engine.h"
#include "cache/bundle.h"

#include <criterion/criterion.h>
#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define AT_FLAGS    16
#define AT_RAW_SIZE 24
#define ONE         "one 000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f\n"

static uint8_t key[ENTRY_KEY_BYTES];
static struct keyring *keyring;
static struct bundle_made made;
static int made_of;

static int put(void *context, const void *bytes, size_t size)
{
	return write(*(int *)context, bytes, size) == (ssize_t)size ? 0 : -EIO;
}

/* A file with a bundle of so many results, of so many bytes each that nothing packs; it is read from its beginning. */
static int bundle_of(size_t count, size_t size)
{
	int file = memfd_create("bundle", MFD_CLOEXEC);
	uint64_t random = 88172645463325252u;
	uint64_t *bytes = malloc(size + sizeof(*bytes));
	struct bundle_writer writer;

	cr_assert(file >= 0 && bytes != NULL);
	cr_assert_eq(bundle_write_begin(&writer, count, put, &file), 0);
	for (size_t i = 0; i < count; i++) {
		struct section section = {.tag = 1, .bytes = bytes, .size = size};
		uint8_t entry_key[ENTRY_KEY_BYTES] = {(uint8_t)i, (uint8_t)(i >> 8)};
		struct entry *entry;

		for (size_t at = 0; at <= size / sizeof(*bytes); at++) {
			random ^= random << 13;
			random ^= random >> 7;
			random ^= random << 17;
			bytes[at] = random;
		}
		cr_assert_eq(entry_build(entry_key, 1, "", 0, &section, 1, &entry), 0);
		cr_assert_eq(bundle_write_entry(&writer, entry), 0);
		entry_unref(entry);
	}
	cr_assert_eq(bundle_write_end(&writer), 0);
	free(bytes);
	cr_assert_eq(lseek(file, 0, SEEK_SET), 0);
	return file;
}

static void make(void)
{
	unsigned line;

	made_of = bundle_of(5, 3000);
	bundle_value_key("train", key);
	cr_assert_eq(keyring_parse(ONE, &keyring, &line), 0);
	cr_assert_eq(bundle_value_make(made_of, key, keyring, &made), 0);
	cr_assert_eq(made.results, 5);
}

static void drop(void)
{
	close(made_of);
	free(made.value);
	keyring_free(keyring);
}

TestSuite(bundle_value, .init = make, .fini = drop);

static size_t given; /* out before the end, or the error */

/* How many bytes come out, or the error that comes instead. */
static ssize_t unpack(struct bundle_value *bundle, uint8_t *ret_bytes, size_t room, size_t at_a_time)
{
	size_t done = 0;
	ssize_t got;

	do {
		cr_assert_leq(done + at_a_time, room);
		got = bundle_value_get(bundle, ret_bytes + done, at_a_time);
		done += got > 0 ? (size_t)got : 0;
	} while (got > 0);
	given = done;
	return got < 0 ? got : (ssize_t)done;
}

Test(bundle_value, what_is_put_in_comes_out)
{
	static uint8_t wanted[32768], got[32768];
	ssize_t size = pread(made_of, wanted, sizeof(wanted), 0);
	struct bundle_value *bundle;

	cr_assert_eq(made.raw_size, (uint64_t)size);
	for (size_t at_a_time = 1; at_a_time < 10000; at_a_time = 3 * at_a_time + 1) {
		cr_assert_eq(bundle_value_open(made.value, made.size, key, keyring, ENVELOPE_TRUST_KEYS, &bundle),
		             ENVELOPE_SOUND);
		cr_assert_eq(unpack(bundle, got, sizeof(got), at_a_time), size);
		cr_assert_arr_eq(got, wanted, (size_t)size);
		bundle_value_close(bundle);
	}
}

Test(bundle_value, a_bundle_is_no_result_and_a_result_no_bundle)
{
	struct bundle_value *bundle = NULL;
	void *raw = NULL, *sealed;
	size_t size;

	cr_expect_eq(
	    envelope_open(made.value, made.size, key, keyring, ENVELOPE_TRUST_ENGINE, ENVELOPE_RAW_MAX, &raw, &size),
	    ENVELOPE_FOREIGN);
	cr_assert_eq(envelope_seal(key, keyring, "text", 4, &sealed, &size), 0);
	cr_expect_eq(bundle_value_open(sealed, size, key, keyring, ENVELOPE_TRUST_ENGINE, &bundle), ENVELOPE_FOREIGN);
	cr_expect_null(raw);
	cr_expect_null(bundle);
	free(sealed);
}

Test(bundle_value, no_bit_of_it_can_be_another)
{
	struct bundle_value *bundle = NULL;
	uint8_t *bytes = made.value;

	for (size_t i = 0; i < made.size; i++) {
		bytes[i] ^= 1u << i % 8;
		cr_assert_neq(bundle_value_open(bytes, made.size, key, keyring, ENVELOPE_TRUST_KEYS, &bundle),
		              ENVELOPE_SOUND, "byte %zu", i);
		bytes[i] ^= 1u << i % 8;
	}
	for (size_t size = 0; size < made.size; size++) {
		cr_assert_neq(bundle_value_open(bytes, size, key, keyring, ENVELOPE_TRUST_KEYS, &bundle),
		              ENVELOPE_SOUND);
	}
	cr_assert_null(bundle);
}

/* Nobody has signed it, and somebody has changed the head. */
static ssize_t unpacked(uint64_t raw_size, size_t size)
{
	static uint8_t got[65536];
	uint8_t *bytes = calloc(1, made.size + 1);
	struct bundle_value *bundle = NULL;
	uint32_t bundle_alone = htole32(2);
	ssize_t said;

	memcpy(bytes, made.value, size < made.size ? size : made.size);
	memcpy(bytes + AT_FLAGS, &bundle_alone, sizeof(bundle_alone));
	raw_size = htole64(raw_size);
	memcpy(bytes + AT_RAW_SIZE, &raw_size, sizeof(raw_size));
	cr_assert_eq(bundle_value_open(bytes, size, key, NULL, ENVELOPE_TRUST_ENGINE, &bundle), ENVELOPE_SOUND);
	said = unpack(bundle, got, sizeof(got), 1000);
	cr_expect_leq(given, le64toh(raw_size), "more than was announced");
	bundle_value_close(bundle);
	free(bytes);
	return said;
}

Test(bundle_value, it_unpacks_to_what_it_says_or_to_an_error)
{
	struct bundle_value *bundle = NULL;
	uint64_t huge = htole64(ENVELOPE_BUNDLE_MAX + 1);

	cr_expect_eq(unpacked(made.raw_size, made.size), (ssize_t)made.raw_size);
	cr_expect_eq(unpacked(made.raw_size - 1, made.size), -EBADMSG);
	cr_expect_eq(unpacked(made.raw_size + 1, made.size), -EBADMSG);
	cr_expect_eq(unpacked(0, made.size), -EBADMSG);
	cr_expect_eq(unpacked(made.raw_size, made.size - 1), -EBADMSG);
	cr_expect_eq(unpacked(made.raw_size, made.size + 1), -EBADMSG);
	cr_expect_eq(unpacked(made.raw_size, ENVELOPE_HEAD_BYTES), -EBADMSG);
	memcpy((uint8_t *)made.value + AT_RAW_SIZE, &huge, sizeof(huge));
	cr_expect_eq(bundle_value_open(made.value, made.size, key, NULL, ENVELOPE_TRUST_ENGINE, &bundle),
	             ENVELOPE_LARGE);
}

Test(bundle_value, what_no_engine_takes_is_not_made)
{
	struct bundle_made none = {.value = NULL};
	int file = bundle_of(9, ENGINE_VALUE_MAX / 8);

	cr_expect_eq(bundle_value_make(file, key, keyring, &none), -EFBIG);
	cr_expect_null(none.value);
	close(file);
}

Test(bundle_value, names)
{
	char name[BUNDLE_NAME_MAX + 2];
	uint8_t other[ENTRY_KEY_BYTES];

	cr_expect(bundle_value_name("team/train-v1.2:sm_90+a@b"));
	cr_expect_not(bundle_value_name(""));
	cr_expect_not(bundle_value_name("a b"));
	cr_expect_not(bundle_value_name("a\n"));
	memset(name, 'a', sizeof(name));
	name[BUNDLE_NAME_MAX] = '\0';
	cr_expect(bundle_value_name(name));
	name[BUNDLE_NAME_MAX] = 'a';
	name[BUNDLE_NAME_MAX + 1] = '\0';
	cr_expect_not(bundle_value_name(name));
	bundle_value_key("trains", other);
	cr_expect_arr_neq(key, other, sizeof(other));
}

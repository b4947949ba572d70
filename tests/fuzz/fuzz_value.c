/* SPDX-License-Identifier: MIT */
/*
 * Values of an engine (agent/wire/value.h), and key files. The first byte says what the rest is: 0 modulo 4: a key file.
 * Else a value; bits 2 to 4 of the first byte choose what is mended: the head as far as magic, version, format and key
 * go; the size; the signature.
 *
 * Properties: a key file that is accepted has keys of the right size with different ids. A value that is opened has
 * sound entries of the key, no more than sixteen and no larger than allowed, and its head is judged the same way; without
 * the right signature it is not opened.
 */
#include "agent/wire/value.h"

#include "tests/fuzz/fuzz.h"

#include <endian.h>
#include <zstd.h>

#define RAW_MAX     65536
#define AT_RAW_SIZE 16
#define AT_MAC      72

static const uint8_t key[ENTRY_KEY_BYTES];
static struct keyring keyring;
static uint8_t model[VALUE_HEAD_BYTES]; /* the head of a sound value */

FUZZ_SET_UP()
{
	struct results results = {.count = 1};
	void *value;
	size_t size;

	require(keyring_parse("a 000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f\n", &keyring) == 0);
	require(entry_build(key, 0, "", 0, NULL, 0, &results.entries[0]) == 0);
	require(value_seal(&results, key, &keyring, RAW_MAX, &value, &size) == 0);
	memcpy(model, value, sizeof(model));
	results_free(&results);
	free(value);
}

static void read_keys(const char *text)
{
	struct keyring read;
	int error = keyring_parse(text, &read);

	if (error != 0) {
		require(error == -ENODATA || error > 0);
		return;
	}
	require(read.count > 0 && read.count <= KEYRING_KEYS_MAX);
	for (size_t i = 0; i < read.count; i++) {
		require(read.keys[i].size >= KEYRING_KEY_LEAST && read.keys[i].size <= KEYRING_KEY_BYTES);
		require(keyring_find(&read, read.keys[i].id) == &read.keys[i]);
	}
}

static void mend(uint8_t *value, size_t size, uint8_t what)
{
	unsigned long long said = ZSTD_getFrameContentSize(value + VALUE_HEAD_BYTES, size - VALUE_HEAD_BYTES);

	if (what & 4) {
		memcpy(value, model, AT_MAC);
	}
	if (what & 8 && said < ZSTD_CONTENTSIZE_ERROR) {
		said = htole64(said);
		memcpy(value + AT_RAW_SIZE, &said, sizeof(said));
	}
	if (what & 16) {
		keyring_sign(&keyring.keys[0], value, AT_MAC, value + VALUE_HEAD_BYTES, size - VALUE_HEAD_BYTES,
		             value + AT_MAC);
	}
}

static void read_value(const uint8_t *data, size_t size, uint8_t what)
{
	const struct value_rules rules = {&keyring, VALUE_TRUST_KEYS, RAW_MAX};
	uint8_t *value = copy_of(data, size);
	struct results results = {.count = 0};
	uint64_t total = 0;

	if (size >= VALUE_HEAD_BYTES) {
		mend(value, size, what);
	}
	if (value_open(value, size, key, &rules, &results) == VALUE_SOUND) {
		require(results.count > 0 && results.count <= STORE_RESULTS_MAX);
		value[size - 1] ^= 1;
		require(value_open(value, size, key, &rules, &(struct results){.count = 0}) == VALUE_FORGED);
	}
	for (size_t i = 0; i < results.count; i++) {
		require(memcmp(entry_info(results.entries[i])->key, key, sizeof(key)) == 0);
		total += entry_info(results.entries[i])->total_size;
	}
	require(total <= RAW_MAX);
	results_free(&results);
	free(value);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text;

	if (size < 1) {
		return 0;
	}
	if (data[0] % 4 != 0) {
		read_value(data + 1, size - 1, data[0]);
		return 0;
	}
	text = text_of(data + 1, size - 1);
	read_keys(text);
	free(text);
	return 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * Values of an engine. Bits of the first byte choose:
 *
 * 0: whether the rest is a hostile value (0), or is sealed and then changed in one place (1).
 * 1 to 3, of a hostile one: the head is mended as far as magic, version, format and key go; its signature is; what is
 *    packed in it says how much it is.
 * 4: whether the engine is trusted.
 * 5: what is packed begins as a frame of zstd does.
 *
 * What is opened is as large as its head says and no larger than the limit; the results in it are of that key and can be read
 * to their last byte. What was sealed and then changed is not opened where keys are asked for.
 */
#include "agent/envelope.h"
#include "agent/parcel.h"

#include "tests/fuzz/fuzz.h"

#include <blake2.h>
#include <zstd.h>

#define AT_RAW_SIZE 24
#define AT_KEY      32
#define AT_KEY_ID   64
#define AT_MAC      80
#define RAW_MAX     (UINT64_C(1) << 20)

static const uint8_t key[ENTRY_KEY_BYTES];
static const char keys[] = "a 000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f\n";
static struct keyring *keyring;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	unsigned line;

	(void)argc;
	(void)argv;
	require(keyring_parse(keys, &keyring, &line) == 0);
	return 0;
}

static void look_into(const struct parcel *parcel)
{
	for (size_t i = 0; i < parcel->count; i++) {
		struct section section;
		unsigned sum = 0;

		require(memcmp(entry_info(parcel->entries[i])->key, key, sizeof(key)) == 0);
		for (size_t j = 0; entry_section_at(parcel->entries[i], j, &section); j++) {
			for (size_t k = 0; k < section.size; k++) {
				sum += ((const uint8_t *)section.bytes)[k];
			}
		}
		require(sum != UINT32_MAX);
	}
	require(parcel->count > 0 && parcel_holds(parcel, parcel));
}

static enum envelope_found open_value(const uint8_t *value, size_t size, enum envelope_trust trust, void **ret_raw,
                                      size_t *ret_size)
{
	uint8_t *copy = copy_of(value, size);
	enum envelope_found found = envelope_open(copy, size, key, keyring, trust, RAW_MAX, ret_raw, ret_size);

	free(copy);
	return found;
}

static void mend(uint8_t *value, size_t size, unsigned how)
{
	struct keyring_key *signs = &keyring->keys[0];
	blake2b_state state;
	void *model;
	size_t model_size;

	if (how & 2) {
		require(envelope_seal(key, keyring, "", 0, &model, &model_size) == 0);
		memcpy(value, model, AT_RAW_SIZE);
		memcpy(value + AT_KEY, key, sizeof(key));
		memcpy(value + AT_KEY_ID, signs->id, sizeof(signs->id));
		free(model);
	}
	if ((how & 32) && size >= ENVELOPE_HEAD_BYTES + 4) {
		memcpy(value + ENVELOPE_HEAD_BYTES, (const uint32_t[]){ZSTD_MAGICNUMBER}, 4);
	}
	if (how & 8) {
		unsigned long long raw_size =
		    ZSTD_getFrameContentSize(value + ENVELOPE_HEAD_BYTES, size - ENVELOPE_HEAD_BYTES);

		memcpy(value + AT_RAW_SIZE, &raw_size, sizeof(raw_size));
	}
	if (how & 4) {
		blake2b_init_key(&state, 32, signs->bytes, signs->size);
		blake2b_update(&state, value, AT_MAC);
		blake2b_update(&state, value + ENVELOPE_HEAD_BYTES, size - ENVELOPE_HEAD_BYTES);
		blake2b_final(&state, value + AT_MAC, 32);
	}
}

/* Results of whatever the bytes say. */
static void read_results(const void *raw, size_t size)
{
	struct parcel parcel = {.count = 0};

	if (parcel_read(raw, size, key, &parcel) == 0) {
		look_into(&parcel);
		parcel_free(&parcel);
	}
}

static void take_hostile(struct input *input, unsigned how, enum envelope_trust trust)
{
	size_t size;
	const uint8_t *bytes = take_bytes(input, SIZE_MAX, &size);
	uint8_t *value = copy_of(bytes, size);
	size_t raw_size = 0;
	void *raw = NULL;

	if (size >= ENVELOPE_HEAD_BYTES) {
		mend(value, size, how);
	}
	if (open_value(value, size, trust, &raw, &raw_size) == ENVELOPE_SOUND) {
		require(raw_size <= RAW_MAX);
		read_results(raw, raw_size);
	}
	free(raw);
	free(value);
}

static void seal_and_change(struct input *input, enum envelope_trust trust)
{
	size_t at = (size_t)take_number(input, 2);
	uint8_t by = (uint8_t)take_number(input, 1);
	size_t size;
	const uint8_t *raw = take_bytes(input, SIZE_MAX, &size);
	enum envelope_found found;
	size_t got_size = 0;
	void *got = NULL;
	void *sealed;
	size_t sealed_size;

	require(envelope_seal(key, keyring, raw, size, &sealed, &sealed_size) == 0);
	((uint8_t *)sealed)[at % sealed_size] ^= by;
	found = open_value(sealed, sealed_size, trust, &got, &got_size);
	require(found != ENVELOPE_SOUND || by == 0 || trust == ENVELOPE_TRUST_ENGINE);
	if (by == 0) {
		require(found == (size > RAW_MAX ? ENVELOPE_LARGE : ENVELOPE_SOUND));
		require(found != ENVELOPE_SOUND || (got_size == size && memcmp(got, raw, size) == 0));
	}
	if (found == ENVELOPE_SOUND) {
		read_results(got, got_size);
	}
	free(got);
	free(sealed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = input_of(data, size);
	unsigned how = (unsigned)take_number(&input, 1);
	enum envelope_trust trust = how & 16 ? ENVELOPE_TRUST_ENGINE : ENVELOPE_TRUST_KEYS;

	if (how & 1) {
		seal_and_change(&input, trust);
	} else {
		take_hostile(&input, how, trust);
	}
	return 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * Values of an engine. Bits of the first byte choose:
 *
 * 0: whether the rest is a hostile value (0), or is sealed and then changed in one place (1).
 * 1 to 3, of a hostile one: the head is mended as far as magic, version, format and key go; its signature is; what is
 *    packed in it says how much it is.
 * 4: whether the engine is trusted.
 * 5: what is packed begins as a frame of zstd does.
 * 6: it is a bundle, unpacked piece by piece and read as one.
 * 7, of what is sealed: it is a result made of the rest, and the place is one in what is packed, so that the signature fits.
 *
 * What is opened is as large as its head says and no larger than the limit; the results in it are of that key and can be read
 * to their last byte. What was sealed and then changed is not opened where keys are asked for. What is sealed as the one is
 * never opened as the other.
 */
#include "agent/bundle_value.h"
#include "agent/envelope.h"
#include "agent/parcel.h"
#include "cache/bundle.h"

#include "tests/fuzz/fuzz.h"

#include <blake2.h>
#include <errno.h>
#include <zstd.h>

#define AT_RAW_SIZE 24
#define AT_KEY      32
#define AT_KEY_ID   64
#define AT_MAC      80
#define RAW_MAX     (UINT64_C(1) << 20)
#define HOW_BUNDLE  64
#define HOW_RESULT  128

struct grown {
	uint8_t *bytes;
	size_t size;
};

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

static void look_into_entry(const struct entry *entry)
{
	struct section section;
	unsigned sum = 0;

	for (size_t i = 0; entry_section_at(entry, i, &section); i++) {
		for (size_t j = 0; j < section.size; j++) {
			sum += ((const uint8_t *)section.bytes)[j];
		}
	}
	require(sum != UINT32_MAX);
}

static void look_into(const struct parcel *parcel)
{
	for (size_t i = 0; i < parcel->count; i++) {
		require(memcmp(entry_info(parcel->entries[i])->key, key, sizeof(key)) == 0);
		look_into_entry(parcel->entries[i]);
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

static enum envelope_content content_of(unsigned how)
{
	return how & HOW_BUNDLE ? ENVELOPE_BUNDLE : ENVELOPE_RESULTS;
}

/* A bundle's frame says nothing of its size, as those that are packed piece by piece. */
static uint8_t *seal_bundle(const void *raw, size_t size, uint64_t said, size_t *ret_size)
{
	ZSTD_CCtx *packer = ZSTD_createCCtx();
	size_t room = ZSTD_compressBound(size);
	uint8_t *value = malloc(ENVELOPE_HEAD_BYTES + room);
	size_t packed;

	require(packer != NULL && value != NULL);
	require(!ZSTD_isError(ZSTD_CCtx_setParameter(packer, ZSTD_c_contentSizeFlag, 0)));
	packed = ZSTD_compress2(packer, value + ENVELOPE_HEAD_BYTES, room, raw, size);
	require(!ZSTD_isError(packed));
	require(envelope_close(key, ENVELOPE_BUNDLE, keyring, value, packed, said) == 0);
	ZSTD_freeCCtx(packer);
	*ret_size = ENVELOPE_HEAD_BYTES + packed;
	return value;
}

static uint8_t *seal_value(enum envelope_content content, const void *raw, size_t size, size_t *ret_size)
{
	void *sealed;

	if (content == ENVELOPE_BUNDLE) {
		return seal_bundle(raw, size, size, ret_size);
	}
	require(envelope_seal(key, keyring, raw, size, &sealed, ret_size) == 0);
	return sealed;
}

static void mend(uint8_t *value, size_t size, unsigned how)
{
	struct keyring_key *signs = &keyring->keys[0];
	blake2b_state state;
	size_t model_size;

	if (how & 2) {
		uint8_t *model = seal_value(content_of(how), "", 0, &model_size);

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

		if (raw_size < ZSTD_CONTENTSIZE_ERROR) { /* else it says what it says */
			memcpy(value + AT_RAW_SIZE, &raw_size, sizeof(raw_size));
		}
	}
	if (how & 4) {
		blake2b_init_key(&state, 32, signs->bytes, signs->size);
		blake2b_update(&state, value, AT_MAC);
		blake2b_update(&state, value + ENVELOPE_HEAD_BYTES, size - ENVELOPE_HEAD_BYTES);
		blake2b_final(&state, value + AT_MAC, 32);
	}
}

/* ---- bundles */

/* What it unpacks to, in pieces as long as the bytes say; whether all of it came. */
static bool unpack_all(struct bundle_value *bundle, size_t piece, uint64_t said, const uint8_t *raw)
{
	uint8_t *bytes = malloc(piece);
	uint64_t total = 0;
	ssize_t got;

	require(bytes != NULL);
	while ((got = bundle_value_get(bundle, bytes, piece)) > 0) {
		require((size_t)got <= piece && total + (uint64_t)got <= said);
		require(raw == NULL || memcmp(bytes, raw + total, (size_t)got) == 0);
		total += (uint64_t)got;
	}
	free(bytes);
	require(got == -EBADMSG || (got == 0 && total == said));
	return got == 0;
}

static void read_bundle(struct bundle_value *bundle)
{
	struct bundle_reader reader;
	enum bundle_found found = BUNDLE_ENTRY;
	int error = bundle_read_begin(&reader, RAW_MAX, bundle_value_get, bundle);

	while (error == 0 && found < BUNDLE_END) {
		struct entry *entry = NULL;

		found = bundle_read_next(&reader, &entry, &error);
		if (found == BUNDLE_ENTRY) {
			look_into_entry(entry);
		}
		entry_unref(entry);
	}
	require(error == 0 || error == -EBADMSG || error == -EPROTONOSUPPORT);
}

/* `raw`: what must come, NULL for whatever it may be. */
static enum envelope_found open_bundle(const uint8_t *value, size_t size, enum envelope_trust trust, const uint8_t *raw)
{
	uint8_t *copy = copy_of(value, size);
	struct bundle_value *bundle = NULL;
	enum envelope_found found = bundle_value_open(copy, size, key, keyring, trust, &bundle);
	uint64_t said;

	if (found == ENVELOPE_SOUND) {
		memcpy(&said, copy + AT_RAW_SIZE, sizeof(said));
		require(said <= ENVELOPE_BUNDLE_MAX);
		require(unpack_all(bundle, 1 + value[size - 1] * (size_t)97, said, raw) || raw == NULL);
		bundle_value_close(bundle);
		require(bundle_value_open(copy, size, key, keyring, trust, &bundle) == ENVELOPE_SOUND);
		read_bundle(bundle);
	}
	bundle_value_close(bundle);
	free(copy);
	return found;
}

/* The head says other than what is packed: no more comes than it says, and never all of it. */
static void open_bundle_that_lies(const uint8_t *raw, size_t size, uint64_t said)
{
	struct bundle_value *bundle;
	size_t sealed_size;
	uint8_t *sealed = seal_bundle(raw, size, said, &sealed_size);

	require(bundle_value_open(sealed, sealed_size, key, keyring, ENVELOPE_TRUST_KEYS, &bundle) == ENVELOPE_SOUND);
	require(!unpack_all(bundle, 4096, said, raw));
	bundle_value_close(bundle);
	free(sealed);
}

/* And with a byte behind its frame. */
static void open_bundle_and_more(const uint8_t *raw, size_t size)
{
	struct bundle_value *bundle;
	size_t sealed_size;
	uint8_t *sealed = seal_bundle(raw, size, size, &sealed_size);

	sealed = realloc(sealed, sealed_size + 1);
	require(sealed != NULL);
	sealed[sealed_size] = 0;
	require(envelope_close(key, ENVELOPE_BUNDLE, keyring, sealed, sealed_size + 1 - ENVELOPE_HEAD_BYTES, size) ==
	        0);
	require(bundle_value_open(sealed, sealed_size + 1, key, keyring, ENVELOPE_TRUST_KEYS, &bundle) ==
	        ENVELOPE_SOUND);
	require(!unpack_all(bundle, 4096, size, raw));
	bundle_value_close(bundle);
	free(sealed);
}

/* ---- results */

/* Results of whatever the bytes say. */
static void read_results(const void *raw, size_t size)
{
	struct parcel parcel = {.count = 0};

	if (parcel_read(raw, size, key, &parcel) == 0) {
		look_into(&parcel);
		parcel_free(&parcel);
	}
}

static enum envelope_found open_either(const uint8_t *value, size_t size, unsigned how, const uint8_t *raw,
                                       size_t raw_size)
{
	enum envelope_trust trust = how & 16 ? ENVELOPE_TRUST_ENGINE : ENVELOPE_TRUST_KEYS;
	enum envelope_found found;
	size_t got_size = 0;
	void *got = NULL;

	if (content_of(how) == ENVELOPE_BUNDLE) {
		return open_bundle(value, size, trust, raw);
	}
	found = open_value(value, size, trust, &got, &got_size);
	if (found == ENVELOPE_SOUND) {
		require(got_size <= RAW_MAX);
		require(raw == NULL || (got_size == raw_size && memcmp(got, raw, raw_size) == 0));
		read_results(got, got_size);
	}
	free(got);
	return found;
}

static void take_hostile(struct input *input, unsigned how)
{
	size_t size;
	const uint8_t *bytes = take_bytes(input, SIZE_MAX, &size);
	uint8_t *value = copy_of(bytes, size);

	if (size >= ENVELOPE_HEAD_BYTES) {
		mend(value, size, how);
	}
	(void)open_either(value, size, how, NULL, 0);
	free(value);
}

static int append(void *context, const void *bytes, size_t size)
{
	struct grown *grown = context;

	grown->bytes = realloc(grown->bytes, grown->size + size);
	require(grown->bytes != NULL);
	memcpy(grown->bytes + grown->size, bytes, size);
	grown->size += size;
	return 0;
}

/* One result: conditions, and a section. */
static struct grown make_raw(struct input *input, enum envelope_content content)
{
	struct grown grown = {.bytes = NULL};
	struct bundle_writer writer;
	struct section section = {.tag = 1};
	size_t conditions_size;
	const uint8_t *conditions = take_bytes(input, (size_t)take_number(input, 1), &conditions_size);
	struct entry *entry;
	size_t size;

	section.bytes = take_bytes(input, SIZE_MAX, &section.size);
	require(entry_build(key, 0, conditions, conditions_size, &section, 1, &entry) == 0);
	if (content == ENVELOPE_BUNDLE) {
		require(bundle_write_begin(&writer, 1, append, &grown) == 0);
		require(bundle_write_entry(&writer, entry) == 0 && bundle_write_end(&writer) == 0);
	} else {
		const void *bytes = entry_bytes(entry, &size);

		require(append(&grown, bytes, size) == 0);
	}
	entry_unref(entry);
	return grown;
}

static void seal_and_change(struct input *input, unsigned how)
{
	size_t at = (size_t)take_number(input, 2);
	uint8_t by = (uint8_t)take_number(input, 1);
	struct grown raw = {.bytes = NULL};
	size_t sealed_size;
	uint8_t *sealed;

	if (how & HOW_RESULT) {
		raw = make_raw(input, content_of(how));
		raw.bytes[at % raw.size] ^= by;
	} else {
		const uint8_t *bytes = take_bytes(input, SIZE_MAX, &raw.size);

		raw.bytes = copy_of(bytes, raw.size);
	}
	sealed = seal_value(content_of(how), raw.bytes, raw.size, &sealed_size);
	require(open_either(sealed, sealed_size, how, raw.bytes, raw.size) == ENVELOPE_SOUND);
	require(open_either(sealed, sealed_size, how ^ HOW_BUNDLE, NULL, 0) != ENVELOPE_SOUND);
	if (content_of(how) == ENVELOPE_BUNDLE) {
		open_bundle_that_lies(raw.bytes, raw.size, raw.size + 1 + at);
		open_bundle_and_more(raw.bytes, raw.size);
	}
	if (content_of(how) == ENVELOPE_BUNDLE && raw.size != 0) {
		open_bundle_that_lies(raw.bytes, raw.size, at % raw.size);
	}
	sealed[at % sealed_size] ^= by;
	if (open_either(sealed, sealed_size, how, NULL, 0) == ENVELOPE_SOUND) {
		require(by == 0 || (how & 16));
	}
	free(sealed);
	free(raw.bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = input_of(data, size);
	unsigned how = (unsigned)take_number(&input, 1);

	if (how & 1) {
		seal_and_change(&input, how);
	} else {
		take_hostile(&input, how);
	}
	return 0;
}

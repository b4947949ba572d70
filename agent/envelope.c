/* SPDX-License-Identifier: MIT */
#include "agent/envelope.h"

#include <blake2.h>
#include <endian.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#define MAC_BYTES  32
#define ZSTD_LEVEL 3 /* 1 packs as small and no faster to speak of; 6 gains a twentieth and takes three times as long */

enum { FLAG_SIGNED = 1, FLAG_BUNDLE = 2 };

struct head {
	uint8_t magic[8];
	uint32_t version;
	uint32_t entry_format;
	uint32_t flags;
	uint32_t reserved;
	uint64_t raw_size;
	uint8_t key[ENTRY_KEY_BYTES];
	char key_id[KEYRING_ID_BYTES];
	uint8_t mac[MAC_BYTES];
};

_Static_assert(sizeof(struct head) == ENVELOPE_HEAD_BYTES, "this is a format");

static const uint8_t magic[8] = {0x8e, 'N', 'V', 'E', 'N', 'V', '\r', '\n'};

static bool sign(const struct keyring_key *key, const struct head *head, const void *payload, size_t size,
                 uint8_t ret_mac[MAC_BYTES])
{
	blake2b_state state;
	bool done = blake2b_init_key(&state, MAC_BYTES, key->bytes, key->size) == 0 &&
	            blake2b_update(&state, (const uint8_t *)head, offsetof(struct head, mac)) == 0 &&
	            blake2b_update(&state, payload, size) == 0 && blake2b_final(&state, ret_mac, MAC_BYTES) == 0;

	explicit_bzero(&state, sizeof(state));
	return done;
}

/* In a time that does not tell where they differ. */
static bool equal(const uint8_t *one, const uint8_t *other)
{
	unsigned difference = 0;

	for (size_t i = 0; i < MAC_BYTES; i++) {
		difference |= one[i] ^ other[i];
	}
	return difference == 0;
}

static uint64_t most_of(enum envelope_content content)
{
	return content == ENVELOPE_BUNDLE ? ENVELOPE_BUNDLE_MAX : ENVELOPE_RAW_MAX;
}

int envelope_close(const uint8_t key[ENTRY_KEY_BYTES], enum envelope_content content, const struct keyring *keyring,
                   uint8_t *value, size_t packed, uint64_t raw_size)
{
	struct head head = {
	    .version = htole32(ENVELOPE_VERSION),
	    .entry_format = htole32(ENTRY_FORMAT),
	    .flags = htole32((keyring != NULL ? FLAG_SIGNED : 0) | (content == ENVELOPE_BUNDLE ? FLAG_BUNDLE : 0)),
	    .raw_size = htole64(raw_size)};

	if (raw_size > most_of(content)) {
		return -EFBIG;
	}
	memcpy(head.magic, magic, sizeof(magic));
	memcpy(head.key, key, sizeof(head.key));
	if (keyring != NULL) {
		memcpy(head.key_id, keyring->keys[0].id, sizeof(head.key_id));
	}
	if (keyring != NULL && !sign(&keyring->keys[0], &head, value + sizeof(head), packed, head.mac)) {
		return -ENOMEM;
	}
	memcpy(value, &head, sizeof(head));
	return 0;
}

int envelope_seal(const uint8_t key[ENTRY_KEY_BYTES], const struct keyring *keyring, const void *raw, size_t size,
                  void **ret_value, size_t *ret_size)
{
	size_t room = ZSTD_compressBound(size);
	uint8_t *value;
	size_t packed;
	int error;

	if (size > ENVELOPE_RAW_MAX) {
		return -EFBIG;
	}
	value = malloc(sizeof(struct head) + room);
	if (value == NULL) {
		return -ENOMEM;
	}
	packed = ZSTD_compress(value + sizeof(struct head), room, raw, size, ZSTD_LEVEL);
	error = ZSTD_isError(packed) ? -ENOMEM : envelope_close(key, ENVELOPE_RESULTS, keyring, value, packed, size);
	if (error != 0) {
		free(value);
		return error;
	}
	*ret_value = value;
	*ret_size = sizeof(struct head) + packed;
	return 0;
}

static enum envelope_found judge_head(const struct head *head, const uint8_t key[ENTRY_KEY_BYTES],
                                      enum envelope_content content, uint64_t raw_max)
{
	uint32_t wanted = content == ENVELOPE_BUNDLE ? FLAG_BUNDLE : 0;

	if (memcmp(head->magic, magic, sizeof(magic)) != 0 || head->version != htole32(ENVELOPE_VERSION) ||
	    head->entry_format != htole32(ENTRY_FORMAT) || (le32toh(head->flags) & ~(uint32_t)FLAG_SIGNED) != wanted ||
	    head->reserved != 0) {
		return ENVELOPE_FOREIGN;
	}
	if (memcmp(head->key, key, sizeof(head->key)) != 0) {
		return ENVELOPE_OTHER_KEY;
	}
	return le64toh(head->raw_size) > raw_max || le64toh(head->raw_size) > most_of(content) ? ENVELOPE_LARGE
	                                                                                       : ENVELOPE_SOUND;
}

static enum envelope_found judge_signature(const struct head *head, const void *payload, size_t size,
                                           const struct keyring *keyring, enum envelope_trust trust)
{
	const struct keyring_key *key = keyring_find(keyring, head->key_id);
	uint8_t mac[MAC_BYTES];

	if ((le32toh(head->flags) & FLAG_SIGNED) == 0) {
		return trust == ENVELOPE_TRUST_ENGINE ? ENVELOPE_SOUND : ENVELOPE_UNSIGNED;
	}
	if (key == NULL) {
		return trust == ENVELOPE_TRUST_ENGINE ? ENVELOPE_SOUND : ENVELOPE_UNKNOWN_KEY;
	}
	return sign(key, head, payload, size, mac) && equal(mac, head->mac) ? ENVELOPE_SOUND : ENVELOPE_FORGED;
}

/* One frame that says its size, and nothing behind it. */
static enum envelope_found unpack(const void *payload, size_t size, uint64_t raw_size, void **ret_raw)
{
	void *raw;

	if (size == 0 || ZSTD_getFrameContentSize(payload, size) != raw_size ||
	    ZSTD_findFrameCompressedSize(payload, size) != size) {
		return ENVELOPE_DAMAGED;
	}
	raw = malloc(raw_size + 1);
	if (raw == NULL) {
		return ENVELOPE_NO_MEMORY;
	}
	if (ZSTD_decompress(raw, raw_size, payload, size) != raw_size) {
		free(raw);
		return ENVELOPE_DAMAGED;
	}
	*ret_raw = raw;
	return ENVELOPE_SOUND;
}

enum envelope_found envelope_check(const void *value, size_t size, const uint8_t key[ENTRY_KEY_BYTES],
                                   enum envelope_content content, const struct keyring *keyring,
                                   enum envelope_trust trust, uint64_t raw_max, uint64_t *ret_raw_size)
{
	enum envelope_found found;
	struct head head;

	if (size < sizeof(head)) {
		return ENVELOPE_FOREIGN;
	}
	memcpy(&head, value, sizeof(head));
	found = judge_head(&head, key, content, raw_max);
	if (found == ENVELOPE_SOUND) {
		found =
		    judge_signature(&head, (const uint8_t *)value + sizeof(head), size - sizeof(head), keyring, trust);
	}
	*ret_raw_size = le64toh(head.raw_size);
	return found;
}

enum envelope_found envelope_open(const void *value, size_t size, const uint8_t key[ENTRY_KEY_BYTES],
                                  const struct keyring *keyring, enum envelope_trust trust, uint64_t raw_max,
                                  void **ret_raw, size_t *ret_size)
{
	uint64_t raw_size = 0;
	enum envelope_found found =
	    envelope_check(value, size, key, ENVELOPE_RESULTS, keyring, trust, raw_max, &raw_size);

	if (found == ENVELOPE_SOUND) {
		found =
		    unpack((const uint8_t *)value + sizeof(struct head), size - sizeof(struct head), raw_size, ret_raw);
	}
	if (found == ENVELOPE_SOUND) {
		*ret_size = (size_t)raw_size;
	}
	return found;
}

const char *envelope_words(enum envelope_found found)
{
	static const char *const words[ENVELOPE_FOUNDS] = {
	    [ENVELOPE_SOUND] = "sound",
	    [ENVELOPE_FOREIGN] = "no value of this kind and format",
	    [ENVELOPE_LARGE] = "larger than may be",
	    [ENVELOPE_OTHER_KEY] = "what was put under another name",
	    [ENVELOPE_UNSIGNED] = "signed by nobody, and --trust-engine is not given",
	    [ENVELOPE_UNKNOWN_KEY] = "signed with a key that is not in the key file",
	    [ENVELOPE_FORGED] = "not what was signed: damaged, cut or forged",
	    [ENVELOPE_DAMAGED] = "damaged",
	    [ENVELOPE_NO_MEMORY] = "out of memory",
	};

	return words[found];
}
